"""Classify the errors of the Kubernetes API, and word them for people."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from cluster_resource.errors import CallError

MAX_FIELDS = 5
CONFLICTING = "FieldManagerConflict"
TERMINATING_CAUSE = "NamespaceTerminating"
WEBHOOK_AWAY = ("failed calling webhook", "conversion webhook for")
OF_QUOTA = ("exceeded quota: ", "failed quota: ", "status unknown for quota: ")
"""What a ResourceQuota says with the status of missing rights."""
OTHER_UID = "metadata.uid"
"""The field in the error for an object that another one replaced since it was read."""


class Kind(Enum):
    """How a call failed."""

    ABSENT = "absent"
    CONFLICT = "conflict"
    DEGRADED = "degraded"
    FORBIDDEN = "forbidden"
    FOREIGN = "other owner"
    IN_USE = "in use"
    INVALID = "invalid"
    PODS_AWAY = "pods away"
    """What pods in the EKS cluster serve, an aggregated API or a webhook, is unavailable; the API server itself is not."""
    QUOTA = "quota"
    REJECTED = "rejected"
    STALE = "stale"
    TERMINATING = "namespace terminating"
    TOO_LARGE = "too large"
    UNAUTHORIZED = "unauthorized"
    UNAVAILABLE = "unavailable"
    UNTRUSTED = "untrusted"


FIX = {
    Kind.ABSENT: "add its namespace to the objects, or create it",
    Kind.CONFLICT: "set the field to the template's value or remove it, then deploy again",
    Kind.DEGRADED: "correct the cause, then deploy again",
    Kind.FORBIDDEN: "associate AmazonEKSClusterAdminPolicy with the access entry of the function's role",
    Kind.FOREIGN: "delete it, or set its labels app.kubernetes.io/managed-by=hyperpod-cdk and hyperpod-cdk/inventory",
    Kind.IN_USE: "delete what uses it, then deploy again",
    Kind.INVALID: "correct the object; if the field is immutable, delete the object and deploy again",
    Kind.PODS_AWAY: "restore the pods of the webhook, or delete its configuration, then deploy again",
    Kind.QUOTA: "raise the ResourceQuota or delete objects that it counts, then deploy again",
    Kind.REJECTED: "change the object, or exempt it in the policy of the webhook",
    Kind.STALE: "end the other process that changes it, then deploy again",
    Kind.TERMINATING: "wait until the namespace is deleted, or remove the finalizers that block it, then deploy again",
    Kind.TOO_LARGE: "delete unused objects or CustomResourceDefinitions, then deploy again",
    Kind.UNAUTHORIZED: "create the access entry of the function's role, then deploy again",
    Kind.UNAVAILABLE: "check the endpoint access, the security groups and the health of the EKS cluster, then deploy again",
    Kind.UNTRUSTED: "remove the proxy between the function and the endpoint, then deploy again",
}


KIND_OF_STATUS = {
    401: Kind.UNAUTHORIZED,
    403: Kind.FORBIDDEN,
    404: Kind.ABSENT,
    408: Kind.UNAVAILABLE,
    409: Kind.STALE,
    410: Kind.STALE,  # the other pages of a list have expired
    429: Kind.UNAVAILABLE,
}


class Cause(NamedTuple):
    """One detail of an error."""

    reason: str
    field: str
    message: str

    @property
    def manager(self) -> str:
        """Return the manager in a conflict, whose message is `conflict with "helm" using apps/v1`."""
        parts = self.message.split('"')
        return parts[1] if len(parts) > 2 else self.message


class KubernetesError(CallError):
    """A failed call: its kind, the object that it is about, and the API server's message."""

    kind: Kind
    status = 0
    """The HTTP status, if the API server replied."""

    def __init__(self, kind: Kind, subject: str, text: str, fix: str = "") -> None:
        super().__init__(f"{subject}: {text}; {fix or FIX[kind]}")
        self.kind = kind
        self.subject = subject
        self.text = text


def error_of(status: int, body: Mapping[str, Any], subject: str) -> KubernetesError:
    """Return the error in a reply, whose body is a Status object."""
    causes = [_cause(item) for item in (body.get("details") or {}).get("causes") or ()]
    text = str(body.get("message") or f"HTTP {status}")
    kind = kind_of(status, text, causes)
    error = KubernetesError(kind, subject, _problem(kind, text, causes))
    error.status = status
    return error


def kind_of(status: int, text: str, causes: Iterable[Cause]) -> Kind:
    """Return the kind of an error."""
    kind = _kind_of_details(status, text, tuple(causes)) or KIND_OF_STATUS.get(status)
    return kind or (Kind.UNAVAILABLE if status >= 500 else Kind.INVALID)


def _kind_of_details(status: int, text: str, causes: tuple[Cause, ...]) -> Kind | None:
    """Return the kind if the status does not show it."""
    reasons = {cause.reason for cause in causes}
    if _is_rejected(status, text):
        return Kind.REJECTED
    if TERMINATING_CAUSE in reasons or (status == 403 and "because it is being terminated" in text):
        return Kind.TERMINATING
    if status == 403 and any(words in text for words in OF_QUOTA):
        return Kind.QUOTA
    if OTHER_UID in {cause.field for cause in causes}:
        return Kind.STALE
    if status == 409 and CONFLICTING in reasons:
        return Kind.CONFLICT
    return Kind.PODS_AWAY if status >= 500 and any(words in text for words in WEBHOOK_AWAY) else None


def _is_rejected(status: int, text: str) -> bool:
    """Return whether an admission webhook or policy denied the call; a webhook chooses its status."""
    is_denied = ("admission webhook" in text or "ValidatingAdmissionPolicy" in text) and "denied" in text
    return is_denied and 400 <= status < 500


def _problem(kind: Kind, text: str, causes: list[Cause]) -> str:
    """Return the problem; a conflict names its fields and managers."""
    if kind is not Kind.CONFLICT:
        return text
    fields = [f"{cause.field} belongs to {cause.manager}" for cause in causes if cause.reason == CONFLICTING]
    more = f" and {len(fields) - MAX_FIELDS} more" if len(fields) > MAX_FIELDS else ""
    return f"conflict: {', '.join(fields[:MAX_FIELDS])}{more}"


def _cause(item: Mapping[str, Any]) -> Cause:
    return Cause(str(item.get("reason") or ""), str(item.get("field") or ""), str(item.get("message") or ""))
