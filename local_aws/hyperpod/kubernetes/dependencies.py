"""The objects that HyperPod needs in an EKS cluster before its nodes can join, as its Helm chart installs them.

AWS says that without them clusters may not work or creation fails, and not how. Assumed: nodes do not start.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
"""

from local_aws.hyperpod.kubernetes.api import Api
from local_aws.json_service import Json

NAMESPACE = "aws-hyperpod"
AGENT = "health-monitoring-agent"
DEEP_CHECK_ACCOUNT = "deep-health-check-service-account"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
# What the service itself does here: verb, resource, subresource.
_VERBS = (
    ("list", "nodes", ""),
    ("patch", "nodes", ""),
    ("list", "pods", ""),
    ("delete", "pods", ""),
    ("create", "pods", "eviction"),
    ("create", "events", ""),
)


def missing(api: Api, *, with_deep_checks: bool) -> list[str]:
    """Return what is missing, as text; an empty list if nodes can join."""
    if api.find(f"/api/v1/namespaces/{NAMESPACE}") is None:
        return [f"namespace {NAMESPACE}"]
    accounts = [AGENT, DEEP_CHECK_ACCOUNT] if with_deep_checks else [AGENT]
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/"
    found = [f"service account {NAMESPACE}/{name}" for name in accounts if api.find(path + name) is None]
    sets = api.list(f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets")
    if not any(each["metadata"]["name"].startswith(AGENT) for each in sets):
        found.append(f"DaemonSet {NAMESPACE}/{AGENT}")
    user = api.as_service().user
    return found + [
        f"right of user {user} to {verb} {_name(*parts)}" for verb, *parts in _VERBS if not _may(api, user, verb, *parts)
    ]


def _name(resource: str, part: str) -> str:
    return f"{resource}/{part}" if part else resource


def _may(api: Api, user: str, verb: str, resource: str, part: str) -> bool:
    """Return whether RBAC gives the user a right in all namespaces."""
    attributes: Json = {"verb": verb, "resource": resource, **({"subresource": part} if part else {})}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": attributes},
    }
    return bool(api.call("POST", _REVIEWS, review)["status"].get("allowed"))
