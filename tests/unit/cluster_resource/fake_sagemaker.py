"""A control plane of SageMaker clusters in memory, on a clock that a test moves; it answers like a boto3 client.

Requests are checked along botocore's service model. States, conflicts, lost replies, stale reads and paging are as the service's;
what the service checks in other services (networks, roles, scripts) is ordered as a fault instead.
"""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

import botocore.session
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.validate import validate_parameters

from tests.faults_table.recording import happened, requested
from tests.unit.cluster_resource.fake_cluster import FakeCluster, Json
from tests.unit.cluster_resource.manual_clock import ManualClock
from tests.unit.cluster_resource.modes import mode_of_request

CREATION_S = 600
UPDATE_S = 300
DELETION_S = 300
RETRY_S = 300
PAGE = 100
Value = TypeVar("Value")
SERVICE_MODEL = botocore.session.get_session().get_service_model("sagemaker")


@dataclass(frozen=True)
class Refusal:
    """The next call is answered with an error."""

    code: str
    message: str = "refused by order"
    status: int = 400


class LostReply:
    """The next call is done, and its reply gets lost."""


class FakeMeta:
    """What a client tells of itself."""

    service_model = SERVICE_MODEL


class FakeSageMaker:
    """The clusters of one account and region."""

    meta = FakeMeta()

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.capacity: int | None = None
        self.calls: list[tuple[str, Json]] = []
        self.stale_s = 0.0
        self.creation_fails = ""
        self.update_fails = ""
        self.creation_s: float = CREATION_S
        self.update_s: float = UPDATE_S
        self.deletion_s: float | None = DELETION_S
        self.all: list[FakeCluster] = []
        self._faults: dict[str, deque[Refusal | LostReply]] = defaultdict(deque)
        self._shown: list[tuple[datetime, dict[str, Json]]] = []

    # What tests order and look at

    def order(self, operation: str, fault: Refusal | LostReply, times: int = 1) -> None:
        """Let the next ``times`` calls of ``operation`` go wrong."""
        self._faults[operation].extend([fault] * times)

    def forgive(self) -> None:
        """Drop all faults that were ordered."""
        self._faults.clear()

    def find(self, name: str) -> FakeCluster | None:
        """The cluster of that name, as it really is."""
        for cluster in self.all:
            cluster.pass_time()
        return next((cluster for cluster in self.all if cluster.name == name and not cluster.is_gone), None)

    def living(self) -> list[str]:
        """The names of all clusters."""
        return [cluster.name for cluster in self.all if self.find(cluster.name) is cluster]

    def made(self, *operations: str) -> list[Json]:
        """The arguments of the calls of ``operations``."""
        return [arguments for operation, arguments in self.calls if operation in operations]

    def changes(self) -> list[str]:
        """The operations of all calls that change something."""
        return [operation for operation, _ in self.calls if not operation.startswith(("Describe", "List"))]

    # The API

    def create_cluster(self, **request: Any) -> Json:
        return self._call("CreateCluster", request, self._create)

    def update_cluster(self, **request: Any) -> Json:
        return self._call("UpdateCluster", request, self._update)

    def delete_cluster(self, **request: Any) -> Json:
        return self._call("DeleteCluster", request, self._delete)

    def describe_cluster(self, **request: Any) -> Json:
        return self._call("DescribeCluster", request, self._describe)

    def list_clusters(self, **request: Any) -> Json:
        return self._call("ListClusters", request, self._list)

    def list_cluster_nodes(self, **request: Any) -> Json:
        return self._call("ListClusterNodes", request, self._list_nodes)

    def list_cluster_events(self, **request: Any) -> Json:
        return self._call("ListClusterEvents", request, self._list_events)

    def describe_cluster_event(self, **request: Any) -> Json:
        return self._call("DescribeClusterEvent", request, self._describe_event)

    def list_tags(self, **request: Any) -> Json:
        return self._call("ListTags", request, lambda _: {"Tags": _as_list(self._by_arn(request["ResourceArn"]).tags)})

    def add_tags(self, **request: Any) -> Json:
        return self._call("AddTags", request, self._add_tags)

    def delete_tags(self, **request: Any) -> Json:
        return self._call("DeleteTags", request, self._delete_tags)

    # How it works

    def _call(self, operation: str, request: Json, what: Callable[[Json], Json]) -> Json:
        self.calls.append((operation, copied(request)))
        validate_parameters(request, SERVICE_MODEL.operation_model(operation).input_shape)
        if operation in ("CreateCluster", "UpdateCluster"):
            requested(mode_of_request(request))
        faults = self._faults[operation]
        fault = faults.popleft() if faults else None
        if isinstance(fault, Refusal):
            happened(f"{operation}: {fault.code}")
            raise service_error(operation, fault)
        reply = what(request)
        if not operation.startswith(("Describe", "List")):
            happened(operation)
            self._remember()
        if isinstance(fault, LostReply):
            happened(f"{operation}: reply lost")
            raise ReadTimeoutError(endpoint_url="https://sagemaker")
        return copied(reply)

    def _create(self, request: Json) -> Json:
        self._remember()
        if self.find(request["ClusterName"]):
            raise service_error("CreateCluster", Refusal("ResourceInUse", "Resource Already Exists"))
        arn = f"arn:aws:sagemaker:us-west-2:123456789012:cluster/c{len(self.all):011d}"
        cluster = FakeCluster(self.clock, arn, copied(request))
        self.all.append(cluster)
        if self.creation_fails:
            message = self.creation_fails
            cluster.later(self.creation_s / 2, lambda: cluster.become("RollingBack", message))
            cluster.later(self.creation_s, lambda: cluster.become("Failed", "Rollback completed"))
        elif cluster.is_continuous:
            cluster.later(self.creation_s / 2, cluster.start_controller)
            cluster.later(self.creation_s, lambda: cluster.arrive(self.capacity))
        else:
            cluster.later(self.creation_s, cluster.in_service)
        return {"ClusterArn": arn}

    def _update(self, request: Json) -> Json:
        cluster = self._idle("UpdateCluster", request["ClusterName"])
        self._remember()
        undo = cluster.update(copied(request))
        if cluster.is_continuous:
            cluster.change_in_service(self.update_s, undo, self.update_fails, lambda: self.capacity)
            return {"ClusterArn": cluster.arn}
        cluster.become("Updating")
        if self.update_fails:
            message = self.update_fails

            def roll_back() -> None:
                undo()
                cluster.become("InService", message)

            cluster.later(self.update_s, roll_back)
        else:
            cluster.later(self.update_s, cluster.in_service)
        return {"ClusterArn": cluster.arn}

    def offer(self, capacity: int | None) -> None:
        """Let groups of continuous clusters have that many nodes each (None: all); nodes that are to be had join later."""
        self.capacity = capacity
        for cluster in self.all:
            if cluster.is_continuous:
                cluster.later(RETRY_S, lambda cluster=cluster: cluster.arrive(capacity))  # type: ignore[misc]

    def _delete(self, request: Json) -> Json:
        cluster = self._idle("DeleteCluster", request["ClusterName"])
        self._remember()
        cluster.become("Deleting")
        if self.deletion_s is not None:
            cluster.later(self.deletion_s, cluster.go)
        return {"ClusterArn": cluster.arn}

    def _describe(self, request: Json) -> Json:
        found = self._stale() if self.stale_s else self._now()
        if request["ClusterName"] not in found:
            raise service_error("DescribeCluster", Refusal("ResourceNotFound", f"Cluster {request['ClusterName']} not found."))
        return found[request["ClusterName"]]

    def _list(self, request: Json) -> Json:
        fields = ("ClusterArn", "ClusterName", "ClusterStatus")
        found = [{field: shown[field] for field in fields} for shown in self._now().values()]
        return _page(found, "ClusterSummaries", request)

    def _list_nodes(self, request: Json) -> Json:
        return _page(self._there("ListClusterNodes", request["ClusterName"]).nodes(), "ClusterNodeSummaries", request)

    def _list_events(self, request: Json) -> Json:
        events = [{k: v for k, v in event.items() if k != "EventDetails"} for event in self._events(request)]
        return _page(events[::-1], "Events", request)

    def _describe_event(self, request: Json) -> Json:
        return {"EventDetails": next(each for each in self._events(request) if each["EventId"] == request["EventId"])}

    def _events(self, request: Json) -> list[Json]:
        cluster = self._there("ListClusterEvents", request["ClusterName"])
        if cluster.settings.get("NodeProvisioningMode") != "Continuous":
            raise service_error("ListClusterEvents", Refusal("ValidationException", "needs NodeProvisioningMode Continuous"))
        return [event for event in cluster.events if event["EventTime"] > request.get("EventTimeAfter", cluster.created)]

    def _add_tags(self, request: Json) -> Json:
        cluster = self._by_arn(request["ResourceArn"])
        cluster.tags.update({tag["Key"]: tag["Value"] for tag in request["Tags"]})
        return {"Tags": _as_list(cluster.tags)}

    def _delete_tags(self, request: Json) -> Json:
        for key in request["TagKeys"]:
            self._by_arn(request["ResourceArn"]).tags.pop(key, None)
        return {}

    def _there(self, operation: str, name: str) -> FakeCluster:
        cluster = self.find(name)
        if cluster is None:
            raise service_error(operation, Refusal("ResourceNotFound", f"Cluster {name} not found."))
        return cluster

    def _idle(self, operation: str, name: str) -> FakeCluster:
        cluster = self._there(operation, name)
        if cluster.status not in ("InService", "Failed"):
            raise service_error(operation, Refusal("ConflictException", f"Cluster {name} is {cluster.status}."))
        return cluster

    def _by_arn(self, arn: str) -> FakeCluster:
        for cluster in self.all:
            if cluster.arn == arn and not cluster.is_gone:
                return cluster
        raise service_error("ListTags", Refusal("ResourceNotFound", f"{arn} not found."))

    def _now(self) -> dict[str, Json]:
        return {name: copied(cluster.describe()) for name in self.living() if (cluster := self.find(name))}

    def _remember(self) -> None:
        self._shown.append((self.clock.now, self._now()))

    def _stale(self) -> dict[str, Json]:
        """What was there ``stale_s`` ago, by the changes that calls made since."""
        then = self.clock.now - timedelta(seconds=self.stale_s)
        # The picture before the first change that a reader cannot know of yet was taken as that change began.
        return next((shown for at, shown in self._shown if at > then), self._now())


def copied(value: Value) -> Value:
    """A copy of a JSON value, which may hold nothing else."""
    return cast("Value", _copied(value))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _as_list(tags: dict[str, str]) -> list[Json]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _page(items: list[Json], name: str, request: Json) -> Json:
    start, size = int(request.get("NextToken", "0")), int(request.get("MaxResults", PAGE))
    more = {"NextToken": str(start + size)} if start + size < len(items) else {}
    return {name: items[start : start + size], **more}


def service_error(operation: str, refusal: Refusal) -> ClientError:
    """What a client raises where the service refuses."""
    details = {"Error": {"Code": refusal.code, "Message": refusal.message}}
    return ClientError({**details, "ResponseMetadata": {"HTTPStatusCode": refusal.status}}, operation)
