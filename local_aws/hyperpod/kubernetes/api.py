"""Requests to the API server of an EKS cluster, with the rights of those who make them on AWS: the service and the nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from local_aws.eks import model as eks
from local_aws.eks.control_planes import ControlPlane, ControlPlaneError, Request, programs
from local_aws.hyperpod.eks_access import SERVICE_USER, service_role_arn
from local_aws.json_service import Json

MERGE = "application/merge-patch+json"


class ApiError(Exception):
    """The API server refused a request, or did not answer: then the status is 0."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True)
class Api:
    """The API server for a user; without one, for the embedded AWS itself."""

    plane: ControlPlane
    user: str = ""
    groups: tuple[str, ...] = ()

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Any:
        """Return the content of the response; raise ApiError unless the request succeeds."""
        try:
            status, content = programs().call(self.plane, Request(method, path, body, content_type, self.user, self.groups))
        except ControlPlaneError as error:
            raise ApiError(0, str(error)) from error
        if not 200 <= status < 300:
            text = content.get("message", "") if isinstance(content, Mapping) else content
            raise ApiError(status, f"{method} {path}: status {status}: {text}")
        return content

    def find(self, path: str) -> Json | None:
        """Return an object, or None if it does not exist."""
        try:
            return dict(self.call("GET", path))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, path: str) -> list[Json]:
        """Return the objects of a collection."""
        return list(self.call("GET", path).get("items") or ())

    def create(self, path: str, body: Json) -> None:
        """Create an object in a collection, unless it exists."""
        try:
            self.call("POST", path, body)
        except ApiError as error:
            if error.status != 409:
                raise

    def patch(self, path: str, body: Json) -> None:
        """Merge ``body`` into an object; with a resource version in it, only into that version."""
        self.call("PATCH", path, body, MERGE)

    def delete(self, path: str, *, at_once: bool = False) -> None:
        """Delete an object; ignore a missing one."""
        try:
            self.call("DELETE", path, {"gracePeriodSeconds": 0} if at_once else None)
        except ApiError as error:
            if error.status != 404:
                raise

    def as_service(self) -> "Api":
        """Return the API server for HyperPod's service-linked role, which has only the rights of RBAC."""
        return replace(self, user=SERVICE_USER)

    def as_node(self, name: str) -> "Api":
        """Return the API server for a node."""
        return replace(self, user=f"system:node:{name}", groups=("system:nodes",))


def find_api(arn: str) -> Api | None:
    """Return the API server of the EKS cluster with this ARN; None if it has none."""
    with eks.lock:
        found = eks.by_arn(arn)
        return Api(found.plane) if found and found.plane else None


def missing_entries(arn: str, node_role: str) -> list[str]:
    """Return which access entries do not let the service and a node's role in."""
    with eks.lock:
        found = eks.by_arn(arn)
        entries = {} if found is None else dict(found.entries)
        service = service_role_arn(found.account, found.partition) if found else ""
    node, own = entries.get(node_role), entries.get(service)
    missing = [] if own else [f"access entry of {service}"]
    return (
        missing if node and node.type == "HYPERPOD_LINUX" else [*missing, f"access entry of type HYPERPOD_LINUX of {node_role}"]
    )
