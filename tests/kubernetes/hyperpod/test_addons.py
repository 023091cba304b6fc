"""Pods of add-ons on a node with as few places as on AWS, before a real scheduler."""

from typing import Any

from tests.kubernetes.hyperpod.conftest import RealSite
from tests.simulator.hyperpod.world import until

BEFORE = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
AFTER = ("coredns", "metrics-server", "cert-manager", "amazon-cloudwatch-observability")


def statuses(site: RealSite, *names: str) -> dict[str, str]:
    found = {name: site.eks.describe_addon(clusterName="ml", addonName=name)["addon"] for name in names}
    assert all(addon["health"]["issues"] for addon in found.values() if addon["status"] == "DEGRADED")
    return {name: addon["status"] for name, addon in found.items()}


def refused(site: RealSite) -> list[str]:
    """The scheduler's words about the pods without a node."""
    pods: list[dict[str, Any]] = [pod for pod in site.api.list("/api/v1/pods") if not pod["spec"].get("nodeName")]
    return [condition["message"] for pod in pods for condition in pod["status"].get("conditions", ())]


def test_addons_do_not_fit_on_one_small_node_until_one_of_them_is_deleted(site: RealSite) -> None:
    for name in BEFORE:
        site.eks.create_addon(clusterName="ml", addonName=name)
    site.world.create(site.world.group("a", 1, InstanceType="ml.g5.xlarge"), **site.settings())
    until(site.world.cluster, lambda cluster: cluster["ClusterStatus"] == "InService", 90)
    [node] = site.kube_nodes().values()
    assert node["status"]["allocatable"]["pods"] == "14"  # AWS's table

    # 5 pods run already; 2 + 2 + 3 of Deployments and 1 + 3 of CloudWatch are 16.
    for name in AFTER:
        site.eks.create_addon(clusterName="ml", addonName=name)
    until(lambda: refused(site), lambda found: any("Too many pods" in message for message in found), 60)
    until(lambda: statuses(site, *AFTER), lambda found: "DEGRADED" in found.values() and "CREATING" not in found.values(), 60)

    site.eks.delete_addon(clusterName="ml", addonName="cert-manager")
    until(lambda: refused(site), lambda found: not found, 60)
    others = [name for name in AFTER if name != "cert-manager"]
    until(lambda: statuses(site, *others), lambda found: set(found.values()) == {"ACTIVE"}, 60)
