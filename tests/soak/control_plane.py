"""SageMaker for the functions: the fake control plane behind the faults, which records changes to clusters."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from cluster_resource.event import Owner, owner_of
from tests.soak.boundary import Invocation
from tests.soak.files import ADOPTED_NAME
from tests.unit.cluster_resource.fake_cluster import FakeCluster
from tests.unit.cluster_resource.fake_sagemaker import FakeSageMaker, Refusal, service_error
from tests.unit.cluster_resource.manual_clock import ManualClock
from tests.unit.cluster_resource.world import LOGICAL_ID, STACK

Json = dict[str, Any]
OURS = Owner(STACK, LOGICAL_ID)


class ControlPlane(FakeSageMaker):
    """The clusters of an account, ours and those of others."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.outage_until: datetime = clock.now
        self.outage_code = "ThrottlingException"
        self.foreign_changes: list[str] = []
        self.changed_by: Callable[[str, str], None] = lambda _operation, _request_id: None
        self.adopts: Callable[[str], bool] = lambda _request_id: False
        """Whether a request's file adopts its cluster."""
        self.creates: Callable[[str], bool] = lambda _request_id: False
        """Whether a request is a Create."""
        self.creations: dict[str, int] = {}
        self.enlarged: dict[str, set[str]] = {}
        """The groups to which the calls of each request added nodes."""

    def ours(self, *, and_going: bool = True) -> list[FakeCluster]:
        """Return the clusters that the resource owns, by their tags."""
        for cluster in self.all:
            cluster.pass_time()
        return [
            cluster
            for cluster in self.all
            if not cluster.is_gone and owner_of(cluster.tags) == OURS and (and_going or cluster.status != "Deleting")
        ]

    def serve(self, invocation: Invocation, method: str, request: Json) -> Any:
        """Serve one call of a function, and record its changes."""
        operation = camel(method)
        self.check_outage(operation)
        target = self._target(request)
        tags = dict(target.tags) if target else {}
        counts = {name: group["InstanceCount"] for name, group in target.groups.items()} if target else {}
        self._check_adoption(operation, request, invocation.request_id)
        reply = getattr(self, method)(**request)
        self.changed_by(operation, invocation.request_id)  # a call that is refused changes nothing
        if operation in ("CreateCluster", "UpdateCluster"):
            larger = {
                group["InstanceGroupName"]
                for group in request["InstanceGroups"]
                if group["InstanceCount"] > counts.get(group["InstanceGroupName"], 0)
            }
            self.enlarged.setdefault(invocation.request_id, set()).update(larger)
        if operation == "CreateCluster":
            self.creations[invocation.request_id] = self.creations.get(invocation.request_id, 0) + 1
        elif (
            target
            and not operation.startswith(("Describe", "List"))
            and not self._is_allowed(operation, target, tags, invocation)
        ):
            self.foreign_changes.append(f"not ours: {operation} of {invocation.request_id} changed {target.name}")
        return reply

    def _is_allowed(self, operation: str, target: FakeCluster, tags: dict[str, str], invocation: Invocation) -> bool:
        """Return whether a request may change the cluster, which had ``tags`` before."""
        is_adoption = operation == "AddTags" and owner_of(tags) is None and self.adopts(invocation.request_id)
        # boto3 repeats a call whose answer was lost; the second DeleteTags finds nothing to delete.
        is_repeated = operation == "DeleteTags" and tags == target.tags
        return owner_of(tags) == OURS or (target.name == ADOPTED_NAME and is_adoption) or is_repeated

    def _check_adoption(self, operation: str, request: Json, request_id: str) -> None:
        """Check that a request whose file adopts the cluster neither creates nor deletes it, nor removes nodes as it adopts."""
        target = self._target(request)
        if not self.adopts(request_id) or request.get("ClusterName") != ADOPTED_NAME:
            return
        if operation in ("CreateCluster", "DeleteCluster"):
            self.foreign_changes.append(f"adopted: {operation} of {request_id}")
        if operation == "UpdateCluster" and target and self.creates(request_id):
            wanted = {group["InstanceGroupName"]: group["InstanceCount"] for group in request["InstanceGroups"]}
            fewer = [name for name, group in target.groups.items() if wanted.get(name, 0) < group["InstanceCount"]]
            self.foreign_changes += [f"adopted: {request_id} removes nodes of {', '.join(fewer)}"] if fewer else []

    def check_outage(self, operation: str) -> None:
        """Refuse calls during an outage."""
        if self.clock.now < self.outage_until:
            raise service_error(operation, Refusal(self.outage_code, "out of order", 503))

    def _target(self, request: Json) -> FakeCluster | None:
        arn, name = request.get("ResourceArn"), request.get("ClusterName")
        return next((item for item in self.all if not item.is_gone and (item.arn == arn or item.name == name)), None)


class Client:
    """A boto3 client in a function: each of its calls is a boundary."""

    def __init__(self, invocation: Invocation, real: Any, serve: Callable[[str, Json], Any]) -> None:
        self._invocation = invocation
        self._serve = serve
        self.meta = getattr(real, "meta", None)
        self.exceptions = getattr(real, "exceptions", None)

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            return self._invocation.call(camel(method), lambda: self._serve(method, request))

        return call


def camel(method: str) -> str:
    """Return the operation's name from the method's."""
    return "".join(part.title() for part in method.split("_"))
