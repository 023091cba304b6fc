"""What a kubelet does for a node that has none: register, stay alive, offer devices, remove terminated pods. No pod starts."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from local_aws.hyperpod.kubernetes import node_objects
from local_aws.hyperpod.kubernetes.api import Api
from local_aws.hyperpod.kubernetes.members import Member
from local_aws.json_service import Json

_RENEW_S = 10.0


@dataclass
class Kubelet:
    """The stand-in for one node's kubelet; ``api`` acts as the node."""

    api: Api
    _renewed: float = field(default=float("-inf"))

    def register(self, member: Member) -> None:
        """Create the Node and its Lease, unless they exist."""
        self.api.create(node_objects.NODES, node_objects.node(member))
        self.api.create(node_objects.LEASES, node_objects.lease(member))
        self._renewed = time.monotonic()

    def turn(self, member: Member, found: Json | None, pods: Sequence[Json]) -> None:
        """Report the node's status and renew its lease; a node that somebody deleted registers again while it runs."""
        if found is None and member.is_up:
            self.register(member)
        elif found is not None:
            self._report(member, found, pods)
        for pod in pods:
            if pod["metadata"].get("deletionTimestamp"):
                namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
                self.api.delete(f"/api/v1/namespaces/{namespace}/pods/{name}", at_once=True)

    def _report(self, member: Member, found: Json, pods: Sequence[Json]) -> None:
        offered = node_objects.devices(member, pods)
        desired = node_objects.status(member, offered)
        shown = found.get("status") or {}
        capacity = {name: value for name, value in (shown.get("capacity") or {}).items() if "." in name}
        if node_objects.is_ready(found) != member.is_up or capacity != offered:
            removed: dict[str, str | None] = dict.fromkeys(set(capacity) - set(offered))
            body = {**desired, "capacity": {**removed, **desired["capacity"]}, "allocatable": {**removed, **desired["capacity"]}}
            self.api.patch(f"{node_objects.NODES}/{member.name}/status", {"status": body})
        if member.is_up and time.monotonic() - self._renewed > _RENEW_S:
            self._renewed = time.monotonic()
            self.api.patch(f"{node_objects.LEASES}/{member.name}", {"spec": node_objects.lease(member)["spec"]})
