"""Nodes of clusters that EKS orchestrates, as Kubernetes sees them: registration, labels, checks, recovery, removal."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations, faults
from local_aws.eks.control_planes import Request
from local_aws.hyperpod import health_records, service_behaviour
from local_aws.hyperpod.deep_checks import FAULT
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import Hold

pytestmark = pytest.mark.local
GPU: dict[str, Any] = {"InstanceType": "ml.g5.8xlarge"}
CHECKED = {**GPU, "OnStartDeepHealthChecks": ["InstanceStress"]}
NODES = "/api/v1/nodes"
HEALTH = "sagemaker.amazonaws.com/node-health-status"
PENDING = "UnschedulablePendingReplacement"


def label(site: EksSite, name: str, value: str) -> None:
    """What `kubectl label node` does."""
    status, _ = site.server.call(Request("PATCH", f"{NODES}/{name}", {"metadata": {"labels": {HEALTH: value}}}))
    assert status == 200


def streams(site: EksSite, prefix: str) -> dict[str, list[dict[str, Any]]]:
    """The records of log streams by name."""
    logs = site.world.client("logs")
    group = f"/aws/sagemaker/Clusters/ml/{site.world.cluster()['ClusterArn'].rpartition('/')[2]}"
    names = [each["logStreamName"] for each in logs.describe_log_streams(logGroupName=group)["logStreams"]]
    return {
        name: [json.loads(event["message"]) for event in logs.get_log_events(logGroupName=group, logStreamName=name)["events"]]
        for name in names
        if name.startswith(prefix)
    }


def test_nodes_join_with_hyperpods_labels_and_the_groups_own(site: EksSite) -> None:
    config = {"Labels": {"team": "a"}, "Taints": [{"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}]}
    site.world.in_service(site.world.group("a", **GPU, KubernetesConfig=config), **site.settings())
    site.until_labels("node-health-status", "Schedulable")
    [node] = site.world.nodes()
    [found] = site.kube_nodes().values()
    labels = found["metadata"]["labels"]
    assert found["metadata"]["name"] == f"hyperpod-{node['InstanceId']}"
    assert labels["sagemaker.amazonaws.com/cluster-name"] == "ml"
    assert labels["sagemaker.amazonaws.com/instance-group-name"] == "a"
    assert labels["node.kubernetes.io/instance-type"] == "ml.g5.8xlarge"
    assert labels["team"] == "a"
    assert found["spec"]["taints"] == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    assert found["status"]["capacity"]["cpu"] == "32"
    assert "nvidia.com/gpu" not in found["status"]["capacity"]


def test_a_node_in_a_deep_health_check_is_tainted_until_it_passes(site: EksSite, hold: Hold) -> None:
    hold("hyperpod.node.deep_health_check")
    site.world.create(site.world.group("a", **CHECKED), **site.settings())
    site.until_labels("deep-health-check-status", "InProgress")
    [found] = site.kube_nodes().values()
    assert found["metadata"]["labels"][HEALTH] == "Unschedulable"
    assert {"key": HEALTH, "value": "Unschedulable", "effect": "NoSchedule"} in found["spec"]["taints"]


def test_a_node_that_fails_its_deep_health_check_is_replaced(site: EksSite) -> None:
    faults.order(faults.Fault(FAULT, kind="fail", message="NCCL Test output Bw: 30", target="a/"))
    durations.change({"hyperpod.node.shut_down": 3000})  # a second, in which the agent sees the faulty node
    site.world.in_service(site.world.group("a", 2, **CHECKED), **site.settings())
    site.until_labels("deep-health-check-status", "Passed", "Passed")
    site.until_labels("node-health-status", "Schedulable", "Schedulable")
    found = [record for records in streams(site, "DeepHealthCheckResults/").values() for record in records]
    [faulty] = [record for record in found if record["level"] == "error"]
    assert faulty["msg"] == (
        "Encountered FaultyInstance. Replace the Instance. Region: us-west-2, InstanceType: g5.8xlarge. "
        "ERROR:NCCL Test output Bw: 30"
    )
    reasons = {event["reason"] for path, event in site.server.objects.items() if "/events/" in path}
    assert {"DeepHealthCheckInProgress", "DeepHealthCheckFailed", "ReplacementRequested"} <= reasons


def test_without_recovery_a_faulty_node_stays_and_is_marked(site: EksSite) -> None:
    faults.order(faults.Fault(FAULT, kind="fail", message="dcgm"))
    site.world.in_service(site.world.group("a", 2, **CHECKED), **site.settings(NodeRecovery="None"))
    site.until_labels("node-health-status", "Schedulable", PENDING)
    site.until_labels("deep-health-check-status", "Failed", "Passed")
    assert sorted(node["InstanceStatus"]["Status"] for node in site.world.nodes()) == ["Failure", "Running"]


def test_a_label_replaces_a_node_if_the_cluster_recovers_nodes(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", 2), **site.settings())
    first, second = sorted(site.kube_nodes())
    label(site, first, PENDING)
    site.world.until(site.kube_nodes, lambda nodes: first not in nodes and len(nodes) == 2)
    assert second in site.kube_nodes()


def test_a_label_reboots_a_node(site: EksSite, hold: Hold) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    hold("hyperpod.node.reboot")
    [name] = site.kube_nodes()
    label(site, name, "UnschedulablePendingReboot")
    site.world.until(site.world.nodes, lambda nodes: nodes[0]["InstanceStatus"]["Status"] == "Pending")

    def ready() -> list[str]:
        conditions = site.kube_nodes()[name]["status"]["conditions"]
        return [condition["status"] for condition in conditions if condition["type"] == "Ready"]

    site.world.until(ready, lambda seen: seen == ["False"])


def test_a_reboot_happens_once(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", 2), **site.settings())
    by_label, by_call = (node["InstanceId"] for node in site.world.nodes())
    durations.change({"hyperpod.node.reboot": 9000})
    label(site, f"hyperpod-{by_label}", "UnschedulablePendingReboot")
    site.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[by_call])
    site.world.until(lambda: rebooted(site), lambda names: len(names) >= 2)
    site.until_labels("node-health-status", "Schedulable", "Schedulable")
    assert sorted(rebooted(site)) == sorted([f"hyperpod-{by_label}", f"hyperpod-{by_call}"])


@pytest.mark.parametrize("behaviour", ["cleared", "kept"])
def test_a_reboot_keeps_taints_of_others_and_clears_the_cordon_as_hyperpod_does(site: EksSite, behaviour: str) -> None:
    service_behaviour.choose({"cordon_after_reboot": behaviour})
    site.world.in_service(site.world.group("a"), **site.settings())
    [name] = site.kube_nodes()
    own = {"key": "hyperpod-cdk/drained", "effect": "NoSchedule"}
    site.server.call(Request("PATCH", f"{NODES}/{name}", {"spec": {"unschedulable": True, "taints": [own]}}))
    durations.change({"hyperpod.node.reboot": 9000})
    site.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[name.removeprefix("hyperpod-")])
    site.world.until(lambda: rebooted(site), lambda names: names == [name])
    site.until_labels("node-health-status", "Schedulable")
    assert site.kube_nodes()[name]["spec"]["taints"] == [own]
    assert bool(site.kube_nodes()[name]["spec"].get("unschedulable")) is (behaviour == "kept")
    service_behaviour.reset()


def test_taints_beside_deep_health_checks_are_refused(site: EksSite) -> None:
    config = {"Taints": [{"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}]}
    with pytest.raises(ClientError, match="instance group a: Taints cannot be specified with OnStartDeepHealthChecks"):
        site.world.create(site.world.group("a", **CHECKED, KubernetesConfig=config), **site.settings())


def rebooted(site: EksSite) -> list[str]:
    """The nodes that HyperPod has rebooted, by its events in Kubernetes."""
    status, listed = site.server.call(Request("GET", "/api/v1/namespaces/default/events"))
    assert status == 200
    return [event["involvedObject"]["name"] for event in listed["items"] if event["reason"] == "RebootRequested"]


def test_without_recovery_a_label_changes_nothing(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), **site.settings(NodeRecovery="None"))
    [name] = site.kube_nodes()
    label(site, name, PENDING)
    asked = len(site.server.requests)
    site.world.until(lambda: len(site.server.requests), lambda count: count > asked + 10)
    assert list(site.kube_nodes()) == [name]
    assert site.labels("node-health-status") == [PENDING]


def test_a_record_of_the_health_agent_replaces_the_node(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", **GPU), **site.settings())
    [node] = site.world.nodes()
    health_records.write(node["InstanceId"], xid=79)
    site.world.until(site.kube_nodes, lambda nodes: nodes and f"hyperpod-{node['InstanceId']}" not in nodes)
    [records] = [each for name, each in streams(site, "SagemakerHealthMonitoringAgent/a/").items() if node["InstanceId"] in name]
    assert [record["msg"] for record in records] == ["NPD caught ", "NPD caught ", "DCGM Policy Violation found "]
    assert records[1]["condition type: "] == "NvidiaErrorTerminate"


def test_replaced_rebooted_and_deleted_nodes_are_distinguished(site: EksSite, hold: Hold) -> None:
    site.world.in_service(site.world.group("a", 3), **site.settings())
    for name in ("shut_down", "reboot"):
        hold(f"hyperpod.node.{name}")
    first, second, third = (node["InstanceId"] for node in site.world.nodes())
    site.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[first])
    site.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[second])
    site.until_labels("node-health-status", "UnschedulablePendingReboot", PENDING, "Schedulable", "Schedulable")
    assert f"hyperpod-{third}" in site.kube_nodes()


def test_nodes_leave_with_their_pods(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", 2), **site.settings())
    stays, goes = (node["InstanceId"] for node in site.world.nodes())
    pods = {each: f"/api/v1/namespaces/default/pods/{each}" for each in (stays, goes)}
    for each, path in pods.items():
        site.server.put(path, spec={"nodeName": f"hyperpod-{each}"})
    site.world.sagemaker.batch_delete_cluster_nodes(ClusterName="ml", NodeIds=[goes])
    site.world.until(site.kube_nodes, lambda nodes: list(nodes) == [f"hyperpod-{stays}"])
    site.world.until(lambda: site.server.objects, lambda objects: pods[goes] not in objects)
    assert pods[stays] in site.server.objects
    site.world.sagemaker.delete_cluster(ClusterName="ml")
    site.world.until(site.kube_nodes, lambda nodes: not nodes)


def test_a_pod_that_ends_is_removed_as_by_a_kubelet(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    [name] = site.kube_nodes()
    path = "/api/v1/namespaces/default/pods/ends"
    site.server.put(path, spec={"nodeName": name})
    site.server.objects[path]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    site.world.until(lambda: site.server.objects, lambda objects: path not in objects)


def test_devices_are_offered_only_where_a_device_plugin_is(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", **GPU), **site.settings())
    [name] = site.kube_nodes()
    folder = {"name": "plugins", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}}
    spec = {"nodeName": name, "volumes": [folder], "containers": [{"image": "nvcr.io/nvidia/k8s-device-plugin:v0.16.1"}]}
    site.server.put("/api/v1/namespaces/kube-system/pods/plugin", spec=spec)
    site.world.until(lambda: site.kube_nodes()[name]["status"]["capacity"].get("nvidia.com/gpu"), lambda count: count == "1")


def test_changed_labels_and_taints_reach_running_nodes_beside_those_of_people(site: EksSite) -> None:
    taint = {"Key": "gpu", "Effect": "NoSchedule"}
    before = {"Labels": {"old": "1", "team": "a"}, "Taints": [taint]}
    site.world.in_service(site.world.group("a", KubernetesConfig=before), **site.settings())
    site.until_labels("node-health-status", "Schedulable")
    [name] = site.kube_nodes()
    theirs = {"key": "theirs", "effect": "NoExecute"}
    body = {"metadata": {"labels": {"own": "1"}}, "spec": {"taints": [theirs, *site.kube_nodes()[name]["spec"]["taints"]]}}
    site.server.call(Request("PATCH", f"{NODES}/{name}", body))
    after = {"Labels": {"team": "b"}, "Taints": [{**taint, "Value": "yes"}]}
    site.world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[site.world.group("a", KubernetesConfig=after)])
    site.world.until(lambda: site.kube_nodes()[name]["metadata"]["labels"].get("team"), lambda team: team == "b")
    labels = site.kube_nodes()[name]["metadata"]["labels"]
    assert (labels.get("old"), labels["own"]) == (None, "1")
    assert site.kube_nodes()[name]["spec"]["taints"] == [theirs, {"key": "gpu", "value": "yes", "effect": "NoSchedule"}]


def test_hyperpod_acts_as_its_service_and_nodes_act_as_themselves(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", **CHECKED), **site.settings())
    site.until_labels("node-health-status", "Schedulable")
    [name] = site.kube_nodes()
    seen = {(request.method, request.path): request.user for request in site.server.requests}
    assert seen["PATCH", f"{NODES}/{name}"] == "hyperpod-service-linked-role"
    assert seen["POST", NODES] == f"system:node:{name}"
    assert seen["PATCH", f"{NODES}/{name}/status"] == f"system:node:{name}"


def test_a_node_that_was_deleted_registers_again(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    site.until_labels("node-health-status", "Schedulable")
    [name] = site.kube_nodes()
    site.server.call(Request("DELETE", f"{NODES}/{name}"))
    site.until_labels("node-health-status", "Schedulable")
    assert list(site.kube_nodes()) == [name]


def test_with_karpenter_a_label_changes_nothing(site: EksSite) -> None:
    role = site.autoscaling_role()
    karpenter = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
    settings = site.settings(NodeProvisioningMode="Continuous", AutoScaling=karpenter, ClusterRole=role)
    site.world.in_service(site.world.group("a"), **settings)
    site.until_labels("node-health-status", "Schedulable")
    [name] = site.kube_nodes()
    label(site, name, PENDING)
    asked = len(site.server.requests)
    site.world.until(lambda: len(site.server.requests), lambda count: count > asked + 10)
    assert list(site.kube_nodes()) == [name]


def test_a_check_on_demand_marks_its_nodes_and_replaces_the_faulty_one(site: EksSite) -> None:
    site.world.in_service(site.world.group("a", 2, **GPU), **site.settings())
    before = set(site.kube_nodes())
    faults.order(faults.Fault("sagemaker:StartClusterHealthCheck", kind="fail", message="dcgm"))
    checks = [{"InstanceGroupName": "a", "DeepHealthChecks": ["InstanceStress"]}]
    site.world.sagemaker.start_cluster_health_check(ClusterName="ml", DeepHealthCheckConfigurations=checks)
    site.world.until(lambda: before - set(site.kube_nodes()), lambda gone: len(gone) == 1)
    site.until_labels("node-health-status", "Schedulable", "Schedulable")
    site.until_labels("deep-health-check-status", "Passed", "")
