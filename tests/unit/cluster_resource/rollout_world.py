"""A rollout around the real entry, step and responder code: a fake parameter store, fake reports and agents that follow them."""

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import botocore.session
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters

from cluster_resource import step
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.event import ROLLOUT
from cluster_resource.pointer import Bundle, Pointer
from cluster_resource.rollout_api import RolloutApi
from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.cluster_resource.manual_clock import ManualClock
from tests.unit.cluster_resource.world import World

Json = dict[str, Any]
PARAMETER, LOG_GROUP = "/hyperpod-cdk/reference/bundle", "/hyperpod-cdk/reference/nodes"
MODELS = {name: botocore.session.get_session().get_service_model(name) for name in ("ssm", "logs", "sagemaker", "kms")}
POLL_S = 60
PAGE = 100
ROLES = {"controller": "controller", "login": "login"}


def rollout_properties(version: str, **more: Any) -> Json:
    """Properties of the resource for a bundle."""
    place = {"Bucket": "sagemaker-reference", "Prefix": f"lifecycle/{version}/fs-1", "Fingerprint": version}
    groups = {"ControllerGroups": ["controller"], "LoginGroups": ["login"]}
    names = {"ClusterName": "reference-1", "Parameter": PARAMETER, "LogGroup": LOG_GROUP, "PropertiesVersion": "2"}
    return {**names, **place, **groups, "Parameters": '{"version":"1.0.0"}', "OnFailure": "fail", **more}


def sha256_of(version: str) -> str:
    """Return the SHA-256 of a bundle."""
    return Bundle.of(rollout_properties(version)).sha256


@dataclass
class FakeNode:
    """A running node; ``broken`` are the bundles that it cannot apply."""

    instance: str
    group: str
    has_agent: bool = True
    applied: str | None = ""
    generation: int = 0
    status: str = "Running"
    broken: set[str] = field(default_factory=set)

    @property
    def role(self) -> str:
        return ROLES.get(self.group, "compute")


class FakeAccount:
    """The parameter, the nodes and the log group, with the interfaces of boto3 clients."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.value: str | None = None
        self.written_at = clock.now
        self.written: list[Pointer] = []
        self.texts_written: list[str] = []
        self.nodes: list[FakeNode] = []
        self.events: list[Json] = []
        self.refusals: dict[str, str] = {}
        self.texts: Json = {}
        """What nodes write into their records of attempts."""
        self.dies_at: int | None = None
        self.calls = 0
        self._numbers = itertools.count(1)

    def add(self, group: str, count: int, version: str = "a", *, has_agent: bool = True) -> list[FakeNode]:
        """Add nodes that run a bundle."""
        sha256 = sha256_of(version)
        new = [FakeNode(f"i-{next(self._numbers):017x}", group, has_agent, sha256) for _ in range(count)]
        self.nodes += new
        return new

    def running(self, version: str) -> list[FakeNode]:
        """Return the nodes that run a bundle."""
        return [node for node in self.nodes if node.applied == sha256_of(version)]

    # Systems Manager

    def get_parameter(self, **request: Any) -> Json:
        return self._call("ssm", "GetParameter", request, self._get)

    def put_parameter(self, **request: Any) -> Json:
        return self._call("ssm", "PutParameter", request, self._put)

    def delete_parameter(self, **request: Any) -> Json:
        return self._call("ssm", "DeleteParameter", request, self._delete)

    # KMS, whose signature shows the message and the key

    def sign(self, **request: Any) -> Json:
        return self._call("kms", "Sign", request, lambda _: {"Signature": b"%(KeyId)b signed %(Message)b" % _bytes(request)})

    def get_public_key(self, **request: Any) -> Json:
        return self._call("kms", "GetPublicKey", request, lambda _: {"PublicKey": b"public %(KeyId)b" % _bytes(request)})

    # SageMaker

    def list_cluster_nodes(self, **request: Any) -> Json:
        return self._call("sagemaker", "ListClusterNodes", request, lambda _: {"ClusterNodeSummaries": self._summaries()})

    # CloudWatch Logs

    def filter_log_events(self, **request: Any) -> Json:
        return self._call("logs", "FilterLogEvents", request, self._filter)

    def _call(self, service: str, operation: str, request: Json, what: Callable[[Json], Json]) -> Json:
        validate_parameters(request, MODELS[service].operation_model(operation).input_shape)
        if operation in self.refusals:
            raise ClientError({"Error": {"Code": self.refusals[operation], "Message": "refused by order"}}, operation)
        reply = what(request)
        self.calls += 1
        if self.calls == self.dies_at:
            raise FunctionDied(operation)
        return reply

    def _get(self, request: Json) -> Json:
        assert request == {"Name": PARAMETER}
        if self.value is None:
            raise ClientError({"Error": {"Code": "ParameterNotFound", "Message": ""}}, "GetParameter")
        return {"Parameter": {"Value": self.value}}

    def _put(self, request: Json) -> Json:
        pointer = Pointer.parse(request["Value"])
        assert pointer is not None
        assert not self.written or pointer.generation > self.written[-1].generation
        self.value, self.written_at = request["Value"], self.clock.now
        self.written.append(pointer)
        self.texts_written.append(request["Value"])
        return {}

    def _delete(self, request: Json) -> Json:
        self._get(request)
        self.value = None
        return {}

    def _summaries(self) -> list[Json]:
        return [
            {"InstanceGroupName": node.group, "InstanceId": node.instance, "InstanceStatus": {"Status": node.status}}
            for node in self.nodes
        ]

    def _filter(self, request: Json) -> Json:
        assert request["logGroupName"] == LOG_GROUP
        if "nextToken" not in request:
            self._let_agents_work()
        found = [event for event in self.events if event["timestamp"] >= request["startTime"]]
        start = int(request.get("nextToken", "0"))
        more = {"nextToken": str(start + PAGE)} if start + PAGE < len(found) else {}
        return {"events": found[start : start + PAGE], **more}

    def _let_agents_work(self) -> None:
        pointer = Pointer.parse(self.value or "")
        is_read = (self.clock.now - self.written_at).total_seconds() >= POLL_S
        for node in (each for each in self.nodes if each.has_agent and each.status == "Running"):
            if pointer and is_read and pointer.reach.includes(node.role, node.instance) and pointer.generation > node.generation:
                self._apply(node, pointer)
            self.report(node, record="state", sha256=node.applied)

    def _apply(self, node: FakeNode, pointer: Pointer) -> None:
        sha256, node.generation = pointer.bundle.sha256, pointer.generation
        if sha256 in {sha256_of(version) for version in node.broken}:
            node.applied = None
            self.report(node, record="bundle", sha256=sha256, result="failed", step="groups and users", message="uid 7 is taken")
        elif node.applied != sha256:
            node.applied = sha256
            self.report(node, record="bundle", sha256=sha256, result="applied", step=None, message="")

    def report(self, node: FakeNode, **more: Any) -> None:
        """Write a record to the log group."""
        record = {"version": 1, "instance": node.instance, "node": f"{node.group}-1", "generation": node.generation, **more}
        if self.texts:
            record |= {name: text for name, text in self.texts.items() if name == "node" or more["record"] == "bundle"}
        self.write(f"{node.group}/{node.instance}", json.dumps(record))

    def write(self, stream: str, message: str, ahead_s: float = 0) -> None:
        """Write a line to a log stream, with a time ahead of the clock."""
        now = int(self.clock.now.timestamp() * 1000)
        time = now + int(ahead_s * 1000)
        self.events.append({"logStreamName": stream, "timestamp": time, "ingestionTime": now, "message": message})


def _bytes(request: Json) -> dict[bytes, bytes]:
    assert request.get("SigningAlgorithm", "RSASSA_PKCS1_V1_5_SHA_256") == "RSASSA_PKCS1_V1_5_SHA_256"
    return {name.encode(): value if isinstance(value, bytes) else value.encode() for name, value in request.items()}


class RolloutWorld(World):
    """The custom resource's functions with a rollout's account."""

    def __init__(self) -> None:
        super().__init__()
        self.account = FakeAccount(self.clock)
        self.has_scripts = False
        """Whether the bucket has the scripts of the rollouts."""
        self.seconds: Callable[[], float] = time.monotonic

    def client_of(self, service: str) -> Any:
        """Return the client of a service."""
        return self.account if service == "kms" else super().client_of(service)

    def rollout(self, kind: str, version: str, old: str | None = None, **more: Any) -> Json:
        """Return one event for the rollout."""
        raw = self.event(kind, rollout_properties(version, **more), None if old is None else rollout_properties(old, **more))
        physical_id = {} if kind == "Create" else {"PhysicalResourceId": "Rollout"}
        return {**raw, "ResourceType": ROLLOUT, "LogicalResourceId": "Rollout", **physical_id}

    def update_to(self, version: str, old: str, **more: Any) -> Json:
        """Deploy a bundle and return the response."""
        self.clock.advance(60)
        return self.finish(self.rollout("Update", version, old, **more))

    def waves(self) -> list[tuple[tuple[str, ...], int]]:
        """Return the reach of each pointer that was written: roles or controllers, and the percentage of compute nodes."""
        reaches = [pointer.reach for pointer in self.account.written]
        return [(reach.roles or reach.instances, reach.compute_percent) for reach in reaches]

    def _step(self, payload: Json) -> Json:
        clusters = ClusterApi(self.account, self.client_of if self.has_scripts else None)
        api = RolloutApi(clusters, self.account, self.account, lambda: self.clock.now, self.seconds)
        return step.handle(payload, lambda: clusters, lambda: self.executions, self.send, rollout_api=lambda: api)
