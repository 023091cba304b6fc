"""A HyperPod cluster on an EKS cluster with a real control plane."""

from collections.abc import Iterator
from typing import Any

import pytest

from cluster_request.kubernetes_objects.dependencies import dependencies
from local_aws import durations, server
from local_aws.clock import DEFAULT_SPEED, clock
from local_aws.eks import control_planes, model
from local_aws.hyperpod.kubernetes.api import Api
from local_aws.server import EmbeddedAws
from local_aws.testing import aws
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import REGION, World

__all__ = ["aws"]

SPEED = 600.0
_COLLECTIONS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "DaemonSet": "/apis/apps/v1/namespaces/{namespace}/daemonsets",
}


class RealSite(EksSite):
    """The account with an EKS cluster whose API server is real."""

    @property
    def api(self) -> Api:
        """The API server for the administrator."""
        [cluster] = model.everything()
        assert cluster.plane is not None
        return Api(cluster.plane)

    def install(self) -> None:
        """Create what this project's stacks create."""
        order = list(_COLLECTIONS)
        objects = [each for each in dependencies(REGION) if each["kind"] in order]
        for each in sorted(objects, key=lambda each: order.index(each["kind"])):
            namespace = each["metadata"].get("namespace", "")
            self.api.create(_COLLECTIONS[each["kind"]].format(namespace=namespace), each)

    def kube_nodes(self) -> dict[str, dict[str, Any]]:
        return {node["metadata"]["name"]: node for node in self.api.list("/api/v1/nodes")}


@pytest.fixture(scope="module")
def site(aws: EmbeddedAws) -> Iterator[RealSite]:
    server.reset()
    clock.set_speed(SPEED)
    control_planes.use(control_planes.REAL)
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    durations.change({"eks.create": 1, "eks.access": 1, "hyperpod.node.deep_health_check": 600, "hyperpod.node.shut_down": 1800})
    made = RealSite(world)
    made.make()
    made.create()
    made.install()
    yield made
    server.reset()
    clock.set_speed(DEFAULT_SPEED)
