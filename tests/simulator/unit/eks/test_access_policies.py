"""What a ClusterRole's rules allow, compared by hand with Kubernetes' RBAC."""

from typing import Any

import pytest

from local_aws.eks.access_policies import allow, arn_of, covers, name_of

Json = dict[str, Any]
RULES: list[Json] = [
    {"apiGroups": [""], "resources": ["pods", "pods/log", "*/scale"], "verbs": ["get", "list"]},
    {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["own"], "verbs": ["get"]},
    {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["/healthz", "/apis/*"], "verbs": ["get"]},
]


def _resource(verb: str, resource: str, **more: str) -> Json:
    return {"resourceAttributes": {"verb": verb, "resource": resource, **more}}


def _path(verb: str, path: str) -> Json:
    return {"nonResourceAttributes": {"verb": verb, "path": path}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (_resource("get", "pods"), True),
        (_resource("get", "pods", subresource="log"), True),
        (_resource("get", "pods", subresource="exec"), False),
        (_resource("get", "deployments", subresource="scale"), True),
        (_resource("delete", "pods"), False),
        (_resource("get", "pods", group="metrics.k8s.io"), False),
        (_resource("get", "secrets", name="own"), True),
        (_resource("get", "secrets", name="other"), False),
        (_resource("get", "secrets"), False),
        (_resource("delete", "deployments", group="apps", subresource="status"), True),
        (_path("get", "/healthz"), True),
        (_path("get", "/healthz/etcd"), False),
        (_path("get", "/apis/apps/v1"), True),
        (_path("post", "/apis/apps/v1"), False),
        ({}, False),
    ],
)
def test_rules(spec: Json, expected: bool) -> None:
    assert allow(RULES, spec) is expected


@pytest.mark.parametrize(
    ("namespaces", "namespace", "expected"),
    [([], "", True), (["a"], "a", True), (["a"], "b", False), (["team-*"], "team-b", True), (["*"], "", False)],
)
def test_scopes(namespaces: list[str], namespace: str, expected: bool) -> None:
    assert covers(namespaces, _resource("get", "pods", namespace=namespace)) is expected


def test_a_scope_of_namespaces_covers_no_paths() -> None:
    assert not covers(["*"], _path("get", "/metrics"))


def test_names_of_policies() -> None:
    assert name_of(arn_of("AmazonEKSViewPolicy", "aws")) == "AmazonEKSViewPolicy"
    assert name_of("arn:aws:eks::aws:cluster-access-policy/Other") is None
    assert name_of("AmazonEKSViewPolicy") is None
