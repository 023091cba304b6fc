"""Kubernetes objects for tests of the dependencies."""

from typing import Any

Json = dict[str, Any]


def names(objects: list[Json]) -> set[str]:
    """Return objects as text."""
    return {text_of({**each, **each["metadata"]}) for each in objects}


def text_of(entry: Json) -> str:
    """Return an entry of the inventory as text."""
    return (
        f"{entry['kind']} {entry['namespace']}/{entry['name']}" if entry.get("namespace") else f"{entry['kind']} {entry['name']}"
    )


def namespace(name: str = "aws-hyperpod") -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def account(name: str = "agent", space: str = "aws-hyperpod") -> Json:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": space}}


def role(name: str = "agent", verb: str = "get") -> Json:
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": [verb]}]
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}


def config_map(name: str = "settings", space: str = "aws-hyperpod", **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": space}, "data": data or {"a": "1"}}


def daemon_set(name: str = "agent", image: str = "agent:1", app: str = "agent", space: str = "aws-hyperpod") -> Json:
    pod = {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "agent", "image": image}]}}
    spec = {"selector": {"matchLabels": {"app": app}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": space}, "spec": spec}


def cron_job(name: str = "mine", space: str = "aws-hyperpod") -> Json:
    """Return an object of a kind that is not in the preferred version of its group."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "job", "image": "job:1"}]}}
    spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": pod}}}
    return {"apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": {"name": name, "namespace": space}, "spec": spec}


def definition(kind: str = "Job") -> Json:
    names = {"kind": kind, "plural": f"{kind.lower()}s"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": versions}
    metadata = {"name": f"{kind.lower()}s.example.com"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}


def custom(name: str = "one", space: str = "default") -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Job", "metadata": {"name": name, "namespace": space}, "spec": {"size": 3}}


def standard() -> list[Json]:
    """Return objects of each rank."""
    return [daemon_set(), config_map(), role(), account(), namespace()]
