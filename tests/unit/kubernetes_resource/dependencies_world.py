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
from tests.unit.kubernetes_resource.objects import text_of

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
        return {text_of(entry) for entry in json.loads(found["data"]["objects"])} if found else set()

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
