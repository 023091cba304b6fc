"""Build Kubernetes objects as plain data."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DATA: Json = json.loads((Path(__file__).parents[2] / "config/data/kubernetes_objects.json").read_text(encoding="utf-8"))
NAMESPACE = "aws-hyperpod"
"""HyperPod's service looks for its objects here; the name cannot change (docs: install-packages-using-helm-chart)."""
RBAC = "rbac.authorization.k8s.io"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""On HyperPod nodes with the prefix ``ml.``."""


def namespace(name: str, labels: Mapping[str, str] | None = None) -> Json:
    """Return a namespace."""
    metadata = {"name": name, **({"labels": dict(labels)} if labels else {})}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def service_account(name: str, space: str = NAMESPACE) -> Json:
    """Return a service account, by default of HyperPod's namespace."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": space}}


def rule(resources: Iterable[str], verbs: Iterable[str], groups: Iterable[str] = ("",)) -> Json:
    """Return a rule of a role."""
    return {"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)}


def cluster_role(name: str, *rules: Json) -> Json:
    """Return a role for the whole cluster."""
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)}


def account(name: str, space: str, *rules: Json) -> list[Json]:
    """Return a service account, and a role of the same name with its binding."""
    return [service_account(name, space), cluster_role(name, *rules), binding(name, name, [account_subject(name, space)])]


def account_subject(name: str, space: str = NAMESPACE) -> Json:
    """Return the subject of a binding to a service account, by default of HyperPod's namespace."""
    return {"kind": "ServiceAccount", "name": name, "namespace": space}


def group_subject(name: str) -> Json:
    """Return the subject of a binding to a group of users."""
    return {"apiGroup": RBAC, "kind": "Group", "name": name}


def binding(name: str, role: str, subjects: list[Json], space: str = "") -> Json:
    """Return the binding of a role for the whole cluster, in a namespace if there is one."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if space else "ClusterRoleBinding",
        "metadata": {"name": name, **({"namespace": space} if space else {})},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    }


def daemon_set(name: str, space: str, pod: Json) -> Json:
    """Return a DaemonSet with one kind of pod."""
    labels = {"app": name}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": space}, "spec": spec}


def on_instance_types(names: Iterable[str]) -> Json:
    """Return the affinity to nodes of these instance types."""
    expression = {"key": INSTANCE_TYPE, "operator": "In", "values": sorted(names)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def host_path(name: str, path: str, kind: str = "") -> Json:
    """Return a volume of the node."""
    return {"name": name, "hostPath": {"path": path, **({"type": kind} if kind else {})}}


def mount(name: str, path: str, *, read_only: bool = False) -> Json:
    """Return the mount of a volume."""
    return {"name": name, "mountPath": path, **({"readOnly": True} if read_only else {})}
