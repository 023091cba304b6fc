"""Each switch of the agent changes what a node has or is told: a file, a command, a session, a moment."""

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import boto3
import pytest

from local_aws import iam
from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.model import Cluster, Group, Node
from local_aws.hyperpod.node_runner import Launch, Outcome
from local_aws.network_interfaces import Interface
from local_aws.nodes.agent import bundle, cluster_nodes, node_start
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.cluster_nodes import ClusterNodes
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.agent.node_start import NodeStart, StartContext
from local_aws.nodes.specs import NodeFile, NodeSpec, Vpc
from local_aws.schedule import schedule
from tests.simulator.unit.nodes.fake_hub import FakeHub

VPC = Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2")
ROLE = "arn:aws:iam::123456789012:role/nodes"
HINTS = get_type_hints(Behaviour)


class Recorder(FakeHub):
    """Records everything that reaches a node."""

    events: list[object]

    def boot(self, spec: NodeSpec) -> None:
        self.events.append(spec)
        super().boot(spec)

    def put(self, node_id: str, files: Mapping[str, NodeFile]) -> None:
        self.events.append((node_id, files))
        super().put(node_id, files)

    def run(self, node_id: str, *argv: str, on_line: Callable[[str], None] | None = None, **more: Any) -> int:
        self.events.append((node_id, argv, more))
        return super().run(node_id, *argv, on_line=on_line, **more)


def node(group: str, number: int, address: str) -> Node:
    types = {"head": "Controller", "door": "Login", "work": "Compute"}
    spec = {
        "InstanceGroupName": group,
        "InstanceType": "ml.g5.xlarge",
        "ExecutionRole": ROLE,
        "SlurmConfig": {"NodeType": types[group]},
        "LifeCycleConfig": {"SourceS3Uri": "s3://scripts/1/", "OnInitComplete": "go"},
    }
    return Node(f"i-{group}-{number}", number, spec, [Interface(f"eni-{address}", address, "subnet")], "Running")


class World:
    """A cluster whose nodes start one after the other, then one joins, and one leaves."""

    def __init__(self, folder: Path, behaviour: Behaviour) -> None:
        self.events: list[object] = []
        nodes = [node("head", 1, "10.1.0.4"), node("door", 1, "10.1.0.5"), node("work", 1, "10.1.0.6")]
        groups = {each.group: Group(each.spec) for each in nodes} | {"empty": Group({"InstanceGroupName": "empty"})}
        groups["empty"].spec["InstanceType"] = "ml.m5.large"
        self.cluster = Cluster("123456789012", "us-west-2", "aws", "ml", "abc", {}, {}, groups, nodes)
        self.nodes = ClusterNodes(folder, self._hub, behaviour)
        self.nodes.munge_key = b"key"
        self.context = StartContext("http://127.0.0.1", folder, bundle.Store())

    def _hub(self, folder: Path, vpc: Vpc) -> Recorder:
        hub = Recorder(folder, vpc)
        hub.events = self.events
        return hub

    def start(self, one: Node) -> None:
        def run() -> None:
            self.events.append(NodeStart(machine, self.nodes, self.context).run())

        machine = Machine(Launch(self.cluster, one), threading.Thread(target=run))
        self.nodes.start(machine)
        machine.starter.join()
        self.nodes.add_line(machine)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Behaviour], list[object]]:
    """Return the record of a cluster's life under an agent; each moment comes at once."""

    def record(behaviour: Behaviour) -> list[object]:
        world = World(tmp_path, behaviour)

        def after(seconds: float, action: Callable[[], None]) -> None:
            world.events.append(seconds)
            action()

        def assume(account: str, role: str, service: str, name: str) -> iam.Session:
            world.events.append(name)
            return iam.Session(account, role, name, "key", "secret", "token", service)

        monkeypatch.setattr(schedule, "after", after)
        monkeypatch.setattr(cluster_nodes, "_in_thread", lambda action: action())
        monkeypatch.setattr(iam, "assume", assume)
        for name, value in (("vpc_of", VPC), ("reaches_aws", True), ("metadata", {}), ("credentials", {}), ("check", None)):
            monkeypatch.setattr(node_start, name, lambda *_, value=value: value)
        monkeypatch.setattr(boto3.session.Session, "client", lambda *_, **__: None)
        monkeypatch.setattr(NodeLog, "write", lambda *_: None)
        monkeypatch.setattr(secrets, "token_hex", lambda _: "0")
        monkeypatch.setattr(bundle.Store, "fetch", lambda *_: {"go": b"#!/bin/sh\n"})
        for each in list(world.cluster.nodes):
            world.start(each)
        world.cluster.nodes.append(node("work", 2, "10.1.0.7"))
        world.start(world.cluster.nodes[-1])
        del world.cluster.nodes[-1]
        world.nodes.refresh()
        return world.events

    return record


def others(name: str) -> list[object]:
    """The values of a switch besides its default."""
    default = getattr(Behaviour(), name)
    return [default + 1] if HINTS[name] is float else [value for value in get_args(HINTS[name]) if value != default]


def test_a_life_is_recorded_the_same_each_time(record: Callable[[Behaviour], list[object]]) -> None:
    events = record(Behaviour())
    assert [each.failure for each in events if isinstance(each, Outcome)] == [None] * 4
    assert record(Behaviour()) == events


@pytest.mark.parametrize(("name", "value"), [(field.name, value) for field in fields(Behaviour) for value in others(field.name)])
def test_each_value_of_a_switch_reaches_a_node(record: Callable[[Behaviour], list[object]], name: str, value: Any) -> None:
    assert record(replace(Behaviour(), **{name: value})) != record(Behaviour())
