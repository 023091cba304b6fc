"""Custom::HyperPodCluster: its code between models of CloudFormation and SageMaker."""

from typing import Any

from cluster_resource import step
from cluster_resource.cluster_api import ClusterApi
from tests.soak import invariants
from tests.soak.boundary import Invocation
from tests.soak.cloudformation import Request
from tests.soak.control_plane import Client, ControlPlane
from tests.soak.files import is_replacement, wanted
from tests.soak.functions import FunctionsWorld

Json = dict[str, Any]


class SoakWorld(FunctionsWorld):
    """A stack with a cluster, in an account with others."""

    def __init__(self) -> None:
        super().__init__()
        self.sagemaker = ControlPlane(self.clock)
        self.deleted_by_hand = False
        self.changed_by_hand = False
        self.sagemaker.changed_by = self._changed_by
        self.sagemaker.adopts = lambda request_id: "Adopt" in self.cloudformation.requests[request_id].raw["ResourceProperties"]
        self.sagemaker.creates = lambda request_id: self.cloudformation.requests[request_id].kind == "Create"

    def _handle(self, payload: Json, invocation: Invocation) -> Json:
        def serve(method: str, request: Json) -> Any:
            reply = self.sagemaker.serve(invocation, method, request)
            self.violations += invariants.check_living(self) if method == "create_cluster" else ()
            return reply

        api = ClusterApi(Client(invocation, self.sagemaker, serve), lambda _: self.cloudformation)
        return step.handle(payload, lambda: api, lambda: self._executions(invocation), self._sender(invocation))

    def _check_answer(self, request: Request, body: Json) -> list[str]:
        return invariants.check_answer(self, request, body)

    def _changed_by(self, operation: str, request_id: str) -> None:
        self.violations += invariants.check_fence(self, operation, request_id)

    # For the invariants

    @property
    def replaces(self) -> bool:
        """Return whether a request replaces the cluster."""
        return any(item.old_file and is_replacement(item.old_file, item.file) for item in self.cloudformation.requests.values())

    @property
    def renames(self) -> bool:
        """Return whether a request fixes the cluster's name, or stops fixing it."""
        return any(wanted(item.file).name for item in self.cloudformation.requests.values())
