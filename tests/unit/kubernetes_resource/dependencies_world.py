"""The real entry, step and responder code of Custom::HyperPodDependencies before an API server in memory."""

import json
from collections.abc import Callable
from typing import Any

from cluster_request.property_values import named_properties
from cluster_resource.aws_api import ApiError
from kubernetes_resource import step
from kubernetes_resource.client import KubernetesClient
from kubernetes_resource.eks_access import EksAccess, EksCluster
from kubernetes_resource.objects import DEPENDENCIES, INVENTORY_LABEL
from tests.unit.cluster_resource.calls_world import CallsWorld
from tests.unit.kubernetes_resource.api_server import TOKEN, ApiServer

Json = dict[str, Any]
CLUSTER, NAME = "reference-eks", "reference"
ID = f"{CLUSTER}/{NAME}"
INVENTORY = f"hyperpod-cdk-{NAME}"


class FakeEks(EksAccess):
    """EKS with one cluster."""

    def __init__(self) -> None:
        self.server = ApiServer()
        self.found: EksCluster | None = EksCluster(CLUSTER, "ACTIVE", "https://api", "PEM")
        self.error: ApiError | None = None
        self.opened = 0
        self.addons: Json = {}

    def addon(self, cluster: str, name: str) -> Json:
        return {"addonName": name, **self.addons[name]}

    def cluster(self, name: str) -> EksCluster | None:
        if self.error:
            raise self.error
        return self.found if self.found and name == self.found.name else None

    def client(self, cluster: EksCluster, seconds_left: Callable[[], float]) -> KubernetesClient:
        self.opened += 1
        return KubernetesClient(self.server, TOKEN, seconds_left)


class DependenciesWorld(CallsWorld):
    """The functions, with an EKS cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.eks = FakeEks()
        self.access: EksAccess = self.eks

    @property
    def server(self) -> ApiServer:
        return self.eks.server

    @property
    def service(self) -> ApiServer:
        return self.server

    def request(self, kind: str, items: list[Json], old: list[Json] | None = None, **more: Any) -> Json:
        """Return an event of CloudFormation."""
        raw = self.event(kind, given(items, **more), None if old is None else given(old, **more))
        physical_id = {} if kind == "Create" else {"PhysicalResourceId": f"{CLUSTER}/{more.get('Name', NAME)}"}
        return {**raw, "ResourceType": DEPENDENCIES, "LogicalResourceId": "Dependencies", **physical_id}

    def ours(self) -> set[str]:
        """Return the objects that carry our label, without the inventory."""
        return self.server.names(INVENTORY_LABEL) - {f"ConfigMap kube-system/{INVENTORY}"}

    def listed(self) -> set[str]:
        """Return the objects in the inventory."""
        found = self.server.find("ConfigMap", INVENTORY, "kube-system")
        return {_text(entry) for entry in json.loads(found["data"]["objects"])} if found else set()

    def settle(self, _seconds: float) -> None:
        """Let the controllers work."""
        self.server.settle()

    def _step(self, payload: Json) -> Json:
        self.settle(0)
        host = step.Host(lambda: self.access, self.seconds, self.settle)
        try:
            return step.handle(payload, host, lambda: self.executions, self.send)
        finally:
            assert self.server.closed == self.eks.opened, "a connection stays open"


def given(objects: list[Json], **more: Any) -> Json:
    """Return the properties for objects."""
    named = ((f"{each['kind']} {each['metadata']['name']}", each) for each in objects)
    return {"ClusterName": CLUSTER, "Name": NAME, **named_properties("Object", named), **more}


def names(objects: list[Json]) -> set[str]:
    """Return objects as text."""
    return {_text({**each, **each["metadata"]}) for each in objects}


def _text(entry: Json) -> str:
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
