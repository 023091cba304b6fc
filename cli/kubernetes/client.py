"""Calls of the Kubernetes API with the operator's credentials, and the IAM principals with access to it."""

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any, Self

from botocore.exceptions import ClientError

import cli.resource_code  # noqa: F401  finds the functions' code
from cli.aws_errors import unless_absent
from cli.errors import RefusedError, UnreachableError
from cli.pages import listed
from cli.result import Json
from kubernetes_resource.client import HttpsTransport, KubernetesClient, Transport
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.eks_access import EksAccess
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import Reference

PAGE_SIZE = 250
MERGE_TYPE = "application/merge-patch+json"
TOO_MANY_REQUESTS = 429
FIX = {
    Kind.UNAVAILABLE: "a private API server answers only inside the VPC: see `eks.endpoint_access` and `eks.public_access_cidrs`",
    Kind.UNTRUSTED: "remove the proxy between this machine and the API server",
}
ADMIN_ROLE = "use a role of `eks.admins`"
REFUSED = (Kind.UNAUTHORIZED, Kind.FORBIDDEN)
SERVICE_ROLE = "/aws-service-role/"
_ASSUMED = re.compile(r"arn:([a-z-]+):sts::(\d{12}):assumed-role/([^/]+)/.*")


class OperatorClient:
    """The calls that commands need."""

    def __init__(self, name: str, transport: Transport, token: str, access_fix: str = ADMIN_ROLE) -> None:
        self.name, self.access_fix = name, access_fix
        self._client = _Client(transport, token)
        self._discovery = Discovery(self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str) -> Json | None:
        """Return an object, or nothing if it does not exist."""
        try:
            return self._client.get(path, path)
        except KubernetesError as error:
            raise self._explained(error) from error

    def exists(self, reference: Reference) -> bool:
        """Return whether an object exists, in any version of its API."""
        try:
            path = self._discovery.path_in_any_version(reference)
        except KubernetesError as error:
            raise self._explained(error) from error
        return path is not None and self.get(path) is not None

    def items(self, path: str) -> Iterator[Json]:
        """Yield the objects of a list, page by page."""
        more = ""
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit={PAGE_SIZE}{more}") or {}
            yield from page.get("items") or ()
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return
            more = f"&continue={token}"

    def merge(self, path: str, changes: Json) -> bool:
        """Change fields of an object, null deletes a field; return False if its resourceVersion is no longer the given one."""
        try:
            self._client.merge(path, changes)
        except KubernetesError as error:
            if error.kind is Kind.STALE:
                return False
            raise self._explained(error) from error
        return True

    def evict(self, namespace: str, pod: str) -> bool:
        """Evict a pod; return whether its disruption budget allows that now. A pod that is gone counts as evicted."""
        try:
            self._client.evict(namespace, pod)
        except KubernetesError as error:
            if error.kind is Kind.ABSENT:
                return True
            if error.status == TOO_MANY_REQUESTS:
                return False
            raise self._explained(error) from error
        return True

    def _explained(self, error: KubernetesError) -> UnreachableError:
        text, kind = " ".join(error.text.split()), error.kind.value
        problem = f"API server of EKS cluster {self.name}: {kind if text.lower() == kind else f'{kind}: {text}'}"
        if error.kind in REFUSED:
            return RefusedError(problem, self.access_fix)
        return UnreachableError(problem, FIX.get(error.kind, "read the message of the API server"))


class _Client(KubernetesClient):
    """The verbs of operators besides those of the custom resource."""

    def merge(self, path: str, changes: Json) -> None:
        """Send a merge patch."""
        self._call("PATCH", path, path, changes, MERGE_TYPE)

    def evict(self, namespace: str, pod: str) -> None:
        """Request the eviction of a pod; without a version, the server takes the one that it serves."""
        body = {"metadata": {"name": pod, "namespace": namespace}}
        self._call("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", f"pod {namespace}/{pod}", body)


def describe_eks(eks: Any, name: str) -> Json:
    """Return EKS's description of an EKS cluster that has an API server."""
    found: Json | None = unless_absent(lambda: eks.describe_cluster(name=name)["cluster"])
    if found is None:
        raise UnreachableError(f"EKS cluster {name!r} does not exist", "deploy the cluster first, or correct `eks.existing`")
    if not found.get("endpoint"):
        raise UnreachableError(f"EKS cluster {name!r} is {found['status']} and has no API server", "try again when it is ACTIVE")
    return found


def operator_client(eks: Any, sts: Any, name: str, access_fix: str = ADMIN_ROLE) -> OperatorClient:
    """Return a client for the API server of an EKS cluster, with a token that is valid for 15 minutes."""
    found = describe_eks(eks, name)
    authority = base64.b64decode(found["certificateAuthority"]["data"]).decode()
    return OperatorClient(name, HttpsTransport(found["endpoint"], authority), EksAccess(eks, sts).token(name), access_fix)


def access_entries(eks: Any, cluster: str) -> list[str]:
    """Return the ARNs of the principals, without AWS's own roles."""
    entries = listed(eks, "list_access_entries", "accessEntries", clusterName=cluster)
    return [arn for arn in entries if SERVICE_ROLE not in arn]


def has_access(caller: str, principals: Sequence[str]) -> bool:
    """Return whether the caller's ARN, as STS returns it, is one of the principals. STS leaves out the path of a role."""
    assumed = _ASSUMED.fullmatch(caller)
    if not assumed:
        return caller in principals
    start, name = f"arn:{assumed[1]}:iam::{assumed[2]}:role/", assumed[3]
    return any(arn.startswith(start) and arn.rpartition("/")[2] == name for arn in principals)


def principal_of(iam: Any, caller: str) -> str:
    """Return the role or user of a caller's ARN as `eks.admins` accepts it; without the role's path if IAM refuses."""
    assumed = _ASSUMED.fullmatch(caller)
    if not assumed:
        return caller.replace(":sts:", ":iam:", 1) if ":user/" in caller else caller
    try:
        return str(iam.get_role(RoleName=assumed[3])["Role"]["Arn"])
    except ClientError:
        return f"arn:{assumed[1]}:iam::{assumed[2]}:role/{assumed[3]}"
