"""Nodes of a HyperPod cluster before a real API server, controllers and scheduler."""

from typing import Any

import pytest

from local_aws import faults
from local_aws.hyperpod.deep_checks import FAULT
from local_aws.hyperpod.eks_access import SERVICE_USER
from tests.kubernetes.hyperpod.conftest import RealSite
from tests.simulator.hyperpod.world import until

HEALTH = "sagemaker.amazonaws.com/node-health-status"
PENDING = "UnschedulablePendingReplacement"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
# HyperPodHelmChart 0.1.0: charts/job-auto-restart and charts/hyperpod-patching.
GRANTED = {
    *((verb, "", resource) for verb in ("get", "list", "watch", "patch") for resource in ("nodes", "nodes/status")),
    *((verb, "", resource) for verb in ("get", "list", "watch") for resource in ("pods", "pods/status")),
    *((verb, "", "pods") for verb in ("delete", "deletecollection")),
    ("create", "", "events"),
    ("create", "", "pods/eviction"),
    *(
        (verb, "kubeflow.org", resource)
        for verb in ("get", "list", "watch", "delete", "patch", "update")
        for resource in ("pytorchjobs", "pytorchjobs/status")
    ),
    *((verb, "coordination.k8s.io", "leases") for verb in ("get", "create", "update", "delete")),
}
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
OTHERS = {("", "secrets"), ("", "configmaps"), ("", "namespaces"), ("apps", "daemonsets"), ("batch", "jobs")}
TWO_CHECKED = {"InstanceType": "ml.g5.8xlarge", "OnStartDeepHealthChecks": ["InstanceStress"]}


def allowed(site: RealSite, verb: str, group: str, resource: str) -> bool:
    name, _, part = resource.partition("/")
    attributes = {"verb": verb, "group": group, "resource": name, "subresource": part}
    spec = {"user": SERVICE_USER, "groups": ["system:authenticated"], "resourceAttributes": attributes}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    return bool(site.api.call("POST", REVIEWS, review)["status"]["allowed"])


def labels(site: RealSite, short: str) -> list[str]:
    nodes = site.kube_nodes().values()
    return sorted(node["metadata"]["labels"].get(f"sagemaker.amazonaws.com/{short}", "") for node in nodes)


def ready(site: RealSite) -> list[str]:
    """The names of nodes that the controllers accept: Ready, without a taint of theirs."""
    return [
        name
        for name, node in site.kube_nodes().items()
        if not any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", []))
        and any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"]["conditions"])
    ]


def test_the_service_may_do_what_its_chart_grants_and_nothing_more(site: RealSite) -> None:
    kinds = {(group, resource) for _, group, resource in GRANTED} | OTHERS
    seen = {(verb, *kind) for kind in kinds for verb in VERBS if allowed(site, verb, *kind)}
    assert seen == GRANTED


@pytest.fixture(scope="module")
def running(site: RealSite) -> RealSite:
    """The cluster with two nodes; the first instance fails its deep health check."""
    faults.order(faults.Fault(FAULT, kind="fail", message="NCCL Test output Bw: 30"))
    config = {"Labels": {"team": "a"}}
    group = site.world.group("a", 2, KubernetesConfig=config, **TWO_CHECKED)
    site.world.create(group, **site.settings())
    found = until(site.world.cluster, lambda cluster: cluster["ClusterStatus"] in ("InService", "Failed"), 90)
    assert found["ClusterStatus"] == "InService", found.get("FailureMessage")
    until(lambda: labels(site, "deep-health-check-status"), lambda seen: seen == ["Passed", "Passed"], 30)
    return site


def test_a_node_that_failed_its_deep_health_check_is_replaced_by_a_ready_one(running: RealSite) -> None:
    until(lambda: labels(running, "node-health-status"), lambda seen: seen == ["Schedulable", "Schedulable"], 30)
    names = until(lambda: ready(running), lambda names: len(names) == 2, 60)
    assert sorted(names) == sorted(f"hyperpod-{node['InstanceId']}" for node in running.world.nodes())
    for node in running.kube_nodes().values():
        assert node["metadata"]["labels"]["team"] == "a"
    reasons = {event["reason"] for event in running.api.list("/api/v1/namespaces/default/events")}
    assert {"DeepHealthCheckFailed", "ReplacementRequested"} <= reasons


def test_the_health_agents_pods_are_bound_and_stay_pending(running: RealSite) -> None:
    def pods() -> list[dict[str, Any]]:
        listed = running.api.list("/api/v1/namespaces/aws-hyperpod/pods")
        return [pod for pod in listed if pod["spec"].get("nodeName")]

    bound = until(pods, lambda pods: len({pod["spec"]["nodeName"] for pod in pods}) == 2, 30)
    assert {pod["status"]["phase"] for pod in bound} == {"Pending"}


def test_a_label_replaces_a_node_and_its_pods_go_with_it(running: RealSite) -> None:
    name = min(running.kube_nodes())
    running.api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": {HEALTH: PENDING}}})
    until(running.kube_nodes, lambda nodes: name not in nodes, 60)
    until(
        lambda: [pod for pod in running.api.list("/api/v1/pods") if pod["spec"].get("nodeName") == name],
        lambda pods: not pods,
        30,
    )
    until(lambda: labels(running, "node-health-status"), lambda seen: seen == ["Schedulable", "Schedulable"], 60)


def test_nothing_of_the_nodes_is_left_when_the_cluster_is_deleted(running: RealSite) -> None:
    running.world.until_status("InService")
    running.world.sagemaker.delete_cluster(ClusterName="ml")
    until(lambda: running.world.sagemaker.list_clusters()["ClusterSummaries"], lambda found: not found, 60)
    until(running.kube_nodes, lambda nodes: not nodes, 30)
    running.api.delete("/api/v1/namespaces/aws-hyperpod")
    until(lambda: running.api.find("/api/v1/namespaces/aws-hyperpod"), lambda found: found is None, 60)
