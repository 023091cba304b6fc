"""EKS's access policies, and whether their rules allow a request to the API server.

https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
The rules are those of the API server's own ClusterRoles. EKS has rules of its own, which differ in details.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

Json = dict[str, Any]

_PREFIX = "eks::aws:cluster-access-policy/"
# Policy -> ClusterRole; None: the rules below.
CLUSTER_ROLES = {
    "AmazonEKSClusterAdminPolicy": "cluster-admin",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSAdminViewPolicy": None,
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSViewPolicy": "view",
}
ADMIN_VIEW_RULES: list[Json] = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]


def arn_of(name: str, partition: str) -> str:
    """Return the ARN of a policy."""
    return f"arn:{partition}:{_PREFIX}{name}"


def name_of(arn: str) -> str | None:
    """Return the name of the policy with this ARN; None for an unknown policy."""
    head, found, name = arn.partition(_PREFIX)
    return name if found and head.startswith("arn:") and name in CLUSTER_ROLES else None


def covers(namespaces: Iterable[str], spec: Json) -> bool:
    """Return whether a policy of these namespaces (none: the cluster) applies to the request of a SubjectAccessReview."""
    patterns = list(namespaces)
    if not patterns:
        return True
    namespace = (spec.get("resourceAttributes") or {}).get("namespace", "")
    return bool(namespace) and any(fnmatchcase(namespace, pattern) for pattern in patterns)


def allow(rules: Iterable[Json], spec: Json) -> bool:
    """Return whether one of a ClusterRole's rules allows the request of a SubjectAccessReview."""
    attributes = spec.get("resourceAttributes")
    if attributes:
        return any(_allows_resource(rule, attributes) for rule in rules)
    path = spec.get("nonResourceAttributes") or {}
    return any(_allows_path(rule, path) for rule in rules)


def _allows_resource(rule: Json, attributes: Json) -> bool:
    resource, part = attributes.get("resource", ""), attributes.get("subresource", "")
    names = {"*", f"{resource}/{part}", f"*/{part}"} if part else {"*", resource}
    return (
        _has(rule, "verbs", {"*", attributes.get("verb", "")})
        and _has(rule, "apiGroups", {"*", attributes.get("group", "")})
        and _has(rule, "resources", names)
        and (not rule.get("resourceNames") or attributes.get("name") in rule["resourceNames"])
    )


def _allows_path(rule: Json, attributes: Json) -> bool:
    path = attributes.get("path", "")
    urls = rule.get("nonResourceURLs") or ()
    fits = any(path.startswith(url[:-1]) if url.endswith("*") else url == path for url in urls)
    return fits and _has(rule, "verbs", {"*", attributes.get("verb", "")})


def _has(rule: Json, name: str, wanted: set[str]) -> bool:
    return bool(wanted & set(rule.get(name) or ()))
