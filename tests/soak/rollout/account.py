"""Systems Manager, CloudWatch Logs and the cluster's nodes for the functions, behind the faults."""

import json
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from botocore.validate import validate_parameters

from cluster_resource.pointer import Pointer
from tests.soak.boundary import Invocation
from tests.soak.control_plane import camel
from tests.soak.rollout.nodes import AgentNode, Nodes
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_sagemaker import Refusal, service_error
from tests.unit.cluster_resource.rollout_world import LOG_GROUP, MODELS, PARAMETER

Json = dict[str, Any]
PAGE = 20
SERVICES = {
    "GetParameter": "ssm",
    "PutParameter": "ssm",
    "DeleteParameter": "ssm",
    "FilterLogEvents": "logs",
    "ListClusterNodes": "sagemaker",
}
FORGED = '"record": "bundle", "instance": "INSTANCE", "sha256": "SHA", "generation": 9007199254740'
HOSTILE = {
    "malformed": "no JSON",
    "deep": "[" * 100_000,
    "infinite": '{"record": "bundle", "instance": "INSTANCE", "sha256": "a", "result": "failed", "generation": 1e999}',
    "unknown": '{"record": "bundle", "instance": "i-unknown", "sha256": "SHA", "result": "failed", "generation": 9007199254740}',
    "long": json.dumps({"record": "state", "instance": "INSTANCE", "node": "\U0001f600" * 900, "sha256": "x" * 900}),
    "old": '{"record": "bundle", "instance": "INSTANCE", "sha256": "SHA", "result": "failed", "generation": 1}',
    "forged failure": f'{{{FORGED}, "result": "failed"}}',
    "forged success ahead": f'{{{FORGED}, "result": "applied"}}',
}
"""Records that must do no harm. The forged ones are in the stream of another instance."""


class RolloutAccount:
    """The parameter, the log group and the nodes."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.nodes = Nodes(timeline, lambda: self.value, self.log)
        self.value: str | None = None
        self.texts: set[str] = set()
        self.highest = 0
        self.has_log_group = False
        self.late_s = 0.0
        self.outage_until = timeline.clock.now
        self.outage_code = "ThrottlingException"
        self.changed_by_hand = timeline.clock.now - timedelta(days=1)
        self.changed_by: Callable[[str, str], None] = lambda _operation, _request_id: None
        self.pointed_by: Callable[[str, Pointer], None] = lambda _request_id, _pointer: None
        self._events: list[Json] = []
        self._snapshots: dict[str, list[Json]] = {}

    # What nodes and people do

    def log(self, node: AgentNode, records: list[Json]) -> bool:
        """Take the records of a node, which become visible later."""
        if not self.has_log_group:
            return False
        self._timeline.after(self.late_s, lambda: self._ingest(node, records))
        return True

    def add_hostile(self, what: str, instance: str, sha256: str) -> None:
        """Write a record that no agent writes."""
        message = HOSTILE[what].replace("INSTANCE", instance).replace("SHA", sha256)
        stream = "workers/i-0forged" if what.startswith("forged") else f"workers/{instance}"
        ahead = 7_200_000 if what.endswith("ahead") else 0
        self._append(stream, {"timestamp": self._now_ms() + ahead, "message": message})

    def change_by_hand(self, value: str | None) -> None:
        """Change the parameter outside CloudFormation."""
        self.value, self.changed_by_hand = value, self._timeline.clock.now

    def set_log_group(self, *, exists: bool) -> None:
        """Create or delete the log group of the stack."""
        if exists != self.has_log_group:
            self.has_log_group = exists
            self._events.clear()

    def _ingest(self, node: AgentNode, records: list[Json]) -> None:
        if not self.has_log_group:
            return
        for record in records:
            self._append(f"{node.group}/{node.instance}", record)
            content = json.loads(record["message"])
            if content.get("result") == "failed":
                node.failures.append((content["sha256"], content["generation"], self._timeline.clock.now))

    def _append(self, stream: str, event: Json) -> None:
        self._events.append({"logStreamName": stream, "ingestionTime": self._now_ms(), **event})

    # What functions call

    def serve(self, invocation: Invocation, method: str, request: Json) -> Any:
        """Serve one call of a function."""
        operation = camel(method)
        validate_parameters(request, MODELS[SERVICES[operation]].operation_model(operation).input_shape)
        if self._timeline.clock.now < self.outage_until:
            raise service_error(operation, Refusal(self.outage_code, "out of order", 503))
        return getattr(self, f"_{method}")(request, invocation.request_id)

    def _get_parameter(self, request: Json, _: str) -> Json:
        self._check_name("GetParameter", request)
        return {"Parameter": {"Value": self.value}}

    def _put_parameter(self, request: Json, request_id: str) -> Json:
        assert request["Name"] == PARAMETER
        pointer = Pointer.parse(request["Value"])
        assert pointer is not None, request["Value"]
        self.changed_by("PutParameter", request_id)
        self.pointed_by(request_id, pointer)
        self.value = request["Value"]
        self.texts.add(request["Value"])
        self.highest = max(self.highest, pointer.generation)
        return {}

    def _delete_parameter(self, request: Json, request_id: str) -> Json:
        self._check_name("DeleteParameter", request)
        self.changed_by("DeleteParameter", request_id)
        self.value = None
        return {}

    def _check_name(self, operation: str, request: Json) -> None:
        assert request == {"Name": PARAMETER}
        if self.value is None:
            raise service_error(operation, Refusal("ParameterNotFound", ""))

    def _list_cluster_nodes(self, _: Json, __: str) -> Json:
        return {
            "ClusterNodeSummaries": [
                {"InstanceGroupName": node.group, "InstanceId": node.instance, "InstanceStatus": {"Status": "Running"}}
                for node in self.nodes.living
            ]
        }

    def _filter_log_events(self, request: Json, _: str) -> Json:
        """Return one page: the streams one after the other, though AWS sorts by time, and at the end a page without events."""
        assert request["logGroupName"] == LOG_GROUP
        if not self.has_log_group:
            raise service_error("FilterLogEvents", Refusal("ResourceNotFoundException", ""))
        token = request.get("nextToken")
        if token is None:
            token = f"{len(self._snapshots)}:0"
            found = [event for event in self._events if event["timestamp"] >= request["startTime"]]
            self._snapshots[token.partition(":")[0]] = sorted(found, key=_stream)
        key, _colon, start = token.partition(":")
        events = self._snapshots[key][int(start) : int(start) + PAGE]
        return {"events": events, **({"nextToken": f"{key}:{int(start) + PAGE}"} if events else {})}

    def _now_ms(self) -> int:
        return int(self._timeline.clock.now.timestamp() * 1000)


def _stream(event: Json) -> tuple[int, int]:
    return zlib.crc32(event["logStreamName"].encode()), event["timestamp"]
