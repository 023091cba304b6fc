"""Custom::HyperPodRollout: its code between models of CloudFormation, Systems Manager, CloudWatch Logs and running nodes."""

from typing import Any

from cluster_resource import step
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.pointer import Pointer
from cluster_resource.rollout_api import RolloutApi
from tests.soak.boundary import Invocation
from tests.soak.cloudformation import CloudFormation, Request
from tests.soak.control_plane import Client
from tests.soak.functions import FunctionsWorld
from tests.soak.invariants import check_fence
from tests.soak.rollout import invariants
from tests.soak.rollout.account import RolloutAccount
from tests.soak.rollout.stack import RolloutStack

Json = dict[str, Any]


class RolloutWorld(FunctionsWorld):
    """A stack whose running nodes follow it."""

    def __init__(self) -> None:
        super().__init__()
        self.account = RolloutAccount(self.timeline)
        self.account.changed_by = self._changed_by
        self.account.pointed_by = self._pointed_by
        self.written: dict[str, list[Pointer]] = {}
        """The pointers that each request wrote."""
        self.reached: dict[str, set[str]] = {}
        """The nodes that each request reached."""
        self.has_trouble = False
        """A node or a record prevented a rollout."""

    def _stack(self) -> CloudFormation:
        return RolloutStack(self.timeline, self._deliver, lambda: self.account.set_log_group(exists=False))

    def _handle(self, payload: Json, invocation: Invocation) -> Json:
        def serve(method: str, request: Json) -> Any:
            return self.account.serve(invocation, method, request)

        client = Client(invocation, None, serve)
        clusters = ClusterApi(client)
        api = RolloutApi(clusters, client, client, lambda: self.clock.now, lambda: 0.0)
        return step.handle(
            payload,
            lambda: clusters,
            lambda: self._executions(invocation),
            self._sender(invocation),
            rollout_api=lambda: api,
        )

    def _check_answer(self, request: Request, body: Json) -> list[str]:
        return invariants.check_answer(self, request, body)

    def _changed_by(self, operation: str, request_id: str) -> None:
        self.violations += check_fence(self, operation, request_id)

    def _pointed_by(self, request_id: str, pointer: Pointer) -> None:
        self.violations += invariants.check_pointer(self, self.cloudformation.requests[request_id], pointer)
        self.written.setdefault(request_id, []).append(pointer)
        reached = {node.instance for node in self.account.nodes.living if pointer.reach.includes(node.role, node.instance)}
        self.reached.setdefault(request_id, set()).update(reached)
