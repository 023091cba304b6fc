"""Each switch of the agent changes what a node has or is told: a file, a command, a session, a moment."""

import secrets
import threading
from collections.abc import Callable
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
from local_aws.nodes.specs import Vpc
from local_aws.schedule import schedule
from tests.simulator.unit.nodes.fake_hub import FakeHub

Life = Callable[[Behaviour], list[object]]
VPC = Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2")
SAME = {"vpc_of": VPC, "reaches_aws": True, "metadata": {}, "credentials": {}, "check": None}
HINTS = get_type_hints(Behaviour)


def node(group: str, number: int, kind: str) -> Node:
    scripts = {"LifeCycleConfig": {"SourceS3Uri": "s3://scripts/1/", "OnInitComplete": "go"}, "ExecutionRole": "role"}
    spec = {"InstanceGroupName": group, "InstanceType": "ml.g5.xlarge", "SlurmConfig": {"NodeType": kind}, **scripts}
    return Node(f"i-{number}", number, spec, [Interface(f"eni-{number}", f"10.1.0.{number}", "subnet")], "Running")


class Lives:
    """The record of a cluster whose nodes start one after the other, then one joins, and one leaves."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.events = folder, list[object]()

    def hub(self, folder: Path, vpc: Vpc) -> FakeHub:
        made = FakeHub(folder, vpc)
        made.events = self.events
        return made

    def assume(self, account: str, role: str, service: str, name: str) -> iam.Session:
        self.events.append(name)
        return iam.Session(account, role, name, "key", "secret", "token", service)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        self.events.append(seconds)
        action()

    def start(self, launch: Launch, nodes: ClusterNodes) -> None:
        context = StartContext("http://127.0.0.1", self.folder, bundle.Store())
        machine = Machine(launch, threading.Thread(target=lambda: self.events.append(NodeStart(machine, nodes, context).run())))
        nodes.start(machine)
        machine.starter.join()
        nodes.add_line(machine)

    def live(self, behaviour: Behaviour) -> list[object]:
        self.events.clear()
        members = [node("head", 4, "Controller"), node("door", 5, "Login"), *(node("work", n, "Compute") for n in (6, 7))]
        empty = Group({"InstanceGroupName": "empty", "InstanceType": "ml.m5.large"})
        groups = {each.group: Group(each.spec) for each in members} | {"empty": empty}
        cluster = Cluster("123456789012", "us-west-2", "aws", "ml", "abc", {}, {}, groups, members[:3])
        nodes = ClusterNodes(self.folder, self.hub, behaviour)
        nodes.munge_key = b"key"
        for each in members:
            cluster.nodes += [each] if each not in cluster.nodes else []
            self.start(Launch(cluster, each), nodes)
        cluster.nodes.pop()
        nodes.refresh()
        return list(self.events)


@pytest.fixture
def life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Life:
    """Return the record of a life under an agent; each moment comes at once."""
    lives = Lives(tmp_path)
    for name, value in SAME.items():
        monkeypatch.setattr(node_start, name, lambda *_, value=value: value)
    monkeypatch.setattr(schedule, "after", lives.after)
    monkeypatch.setattr(cluster_nodes, "_in_thread", lambda action: action())
    monkeypatch.setattr(iam, "assume", lives.assume)
    monkeypatch.setattr(boto3.session.Session, "client", lambda *_, **__: None)
    monkeypatch.setattr(NodeLog, "write", lambda *_: None)
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0")
    monkeypatch.setattr(bundle.Store, "fetch", lambda *_: {"go": b"#!/bin/sh\n"})
    return lives.live


def others(name: str) -> list[object]:
    """The values of a switch besides its default."""
    default = getattr(Behaviour(), name)
    return [default + 1] if HINTS[name] is float else [value for value in get_args(HINTS[name]) if value != default]


def test_a_life_is_recorded_the_same_each_time(life: Life) -> None:
    events = life(Behaviour())
    assert [each.failure for each in events if isinstance(each, Outcome)] == [None] * 4
    assert life(Behaviour()) == events


@pytest.mark.parametrize(("name", "value"), [(field.name, value) for field in fields(Behaviour) for value in others(field.name)])
def test_each_value_of_a_switch_reaches_a_node(life: Life, name: str, value: Any) -> None:
    assert life(replace(Behaviour(), **{name: value})) != life(Behaviour())
