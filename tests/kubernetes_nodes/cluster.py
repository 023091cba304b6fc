"""A cluster on EKS whose nodes run pods, created by AWS's API."""

from collections.abc import Iterable
from typing import Any

from cluster_request.kubernetes_objects.dependencies import dependencies
from config.instance_group import Taint
from local_aws.eks import model as eks
from local_aws.nodes.runner import SimulatedNodes
from tests.kubernetes_nodes.pods import UP_S, Json, Pods
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import REGION, until


class Cluster(Pods):
    """A HyperPod cluster `ml` on the EKS cluster `ml`, as its administrator sees it."""

    def __init__(self, site: EksSite, runner: SimulatedNodes) -> None:
        self.site, self.world, self.runner = site, site.world, runner
        self.site.eks.create_cluster(**site.request())
        until(lambda: site.eks.describe_cluster(name="ml")["cluster"], lambda found: found["status"] == "ACTIVE", UP_S)
        plane: Any = eks.everything()[0].plane
        super().__init__(plane.admin_client())

    def create(self, count: int, taints: Iterable[Taint] = (), **more: Any) -> None:
        """Create the cluster with its dependencies, and wait until it is in service."""
        for item in dependencies(REGION, taints):
            self.install(item)
        self.world.create(self.world.group("workers", count, **more), **self.site.settings())
        found = until(self.world.cluster, lambda found: found["ClusterStatus"] in ("InService", "Failed"), UP_S)
        assert found["ClusterStatus"] == "InService", found

    def install(self, item: Json) -> None:
        """Create an object by its kind and namespace."""
        version, space = item["apiVersion"], item["metadata"].get("namespace")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        self.post(f"{root}/{f'namespaces/{space}/' if space else ''}{item['kind'].lower()}s", item)
