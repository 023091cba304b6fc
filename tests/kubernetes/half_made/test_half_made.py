"""`cdk destroy` of half-made EKS clusters leaves nothing."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from local_aws import durations, faults
from local_aws.faults import Fault
from tests.kubernetes.half_made.conftest import Site
from tests.kubernetes.running import until

pytestmark = [pytest.mark.cdk, pytest.mark.local]

TEAM = "/api/v1/namespaces/hyperpod-ns-research"
INVENTORY = "/api/v1/namespaces/kube-system/configmaps/hyperpod-cdk-hyperpod"
AGENT = "/apis/apps/v1/namespaces/aws-hyperpod/daemonsets/health-monitoring-agent"


def test_an_eks_cluster_whose_add_on_failed_and_whose_rollback_failed(site: Site) -> None:
    faults.order(Fault("eks:CreateAddon", kind="fail", message="no such image"))
    faults.order(Fault("eks:DeleteCluster", code="InvalidParameterException", message="try later"))
    site.deploy()
    assert site.status("Kubernetes") == "ROLLBACK_FAILED"
    assert "no such image" in site.reasons("Kubernetes")
    assert site.client("eks").list_clusters()["clusters"] == ["eks"]
    site.destroy()
    site.assert_nothing_is_left()


def test_objects_that_were_partly_applied_and_a_namespace_with_a_finalizer(site: Site) -> None:
    """The step function dies again and again; objects exist, and the inventory that lists them is lost."""
    faults.order(Fault("lambda:Run", kind="kill", times=50, after=1, target="DependenciesProviderStep"))
    site.deploy("--no-rollback")
    faults.reset()
    assert site.status("Kubernetes") == "CREATE_FAILED"
    site.api("DELETE", INVENTORY)
    site.api("DELETE", AGENT)
    site.api("PATCH", TEAM, {"metadata": {"finalizers": ["example.com/hold"]}})
    with ThreadPoolExecutor() as pool:
        freed = pool.submit(free, site)
        site.destroy()
        freed.result()
    site.assert_nothing_is_left()


def free(site: Site) -> None:
    """Remove the finalizer after the namespace was deleted."""
    until(lambda: "deletionTimestamp" in site.api("GET", TEAM)["metadata"], seconds=300)
    site.api("PATCH", TEAM, {"metadata": {"finalizers": None}})


def test_a_failed_hyperpod_cluster_and_an_eks_cluster_without_its_api_server(site: Site) -> None:
    """HyperPod fails after it created its access entries; then the API server is lost, and EKS's cluster deleted by hand."""
    faults.order(Fault("sagemaker:CreateCluster", kind="fail", message="no luck"))
    site.deploy("--no-rollback")
    assert site.status("Cluster") == "CREATE_FAILED"
    assert "no luck" in site.reasons("Cluster")
    assert any("HyperPod" in arn for arn in site.client("eks").list_access_entries(clusterName="eks")["accessEntries"])
    plane = site.eks().plane
    assert plane
    plane.stop()
    site.destroy(fails=True)
    assert site.status("Kubernetes") == "DELETE_FAILED"
    delete_by_hand(site)
    site.destroy()
    site.assert_nothing_is_left()


def delete_by_hand(site: Site) -> None:
    """Delete the EKS cluster with its add-ons, as an administrator does."""
    durations.change({"eks.addon.delete": 1, "eks.delete": 1})
    eks = site.client("eks")
    for name in eks.list_addons(clusterName="eks")["addons"]:
        eks.delete_addon(clusterName="eks", addonName=name)
        eks.get_waiter("addon_deleted").wait(clusterName="eks", addonName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    eks.delete_cluster(name="eks")
    eks.get_waiter("cluster_deleted").wait(name="eks", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
