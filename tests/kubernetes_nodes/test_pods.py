"""Pods run on the nodes of a HyperPod cluster on EKS."""

from pathlib import Path
from typing import Any

import pytest

from config.instance_group import Taint, TaintEffect
from local_aws.nodes import cgroups
from tests.kubernetes_nodes.cluster import Cluster
from tests.kubernetes_nodes.pods import POD_S, PYTORCH
from tests.nodes.on_nodes import run_on
from tests.simulator.hyperpod.world import until

TYPE = "ml.p5.48xlarge"
TOLERATED: dict[str, Any] = {"tolerations": [{"key": "training", "operator": "Exists"}]}
GPUS = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}
KERNEL = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops")
ALL_REDUCE = """\
import torch, torch.distributed as distributed
distributed.init_process_group("gloo")
total = torch.tensor([distributed.get_rank() + 1.0])
distributed.all_reduce(total)
print("sum", total.item())
"""


def kernel() -> list[str]:
    return [(Path("/proc/sys") / name).read_text() for name in KERNEL]


@pytest.fixture(scope="module")
def before() -> list[str]:
    return kernel()


@pytest.fixture(scope="module")
def cluster(before: list[str], created: Cluster) -> Cluster:
    """A cluster with two nodes."""
    config = {"Labels": {"team": "a"}, "Taints": [{"Key": "training", "Value": "only", "Effect": "NoSchedule"}]}
    created.create(
        2,
        taints=[Taint(key="training", value="only", effect=TaintEffect.NO_SCHEDULE)],
        InstanceType=TYPE,
        KubernetesConfig=config,
    )
    return created


def test_nodes_join_with_hyperpods_names_and_labels_after_their_scripts(cluster: Cluster) -> None:
    nodes, machines = cluster.nodes(), cluster.runner.describe()
    assert set(nodes) == {f"hyperpod-{machine['id']}" for machine in machines}
    for machine in machines:
        node = nodes[f"hyperpod-{machine['id']}"]
        labels = node["metadata"]["labels"]
        assert (labels["sagemaker.amazonaws.com/instance-group-name"], labels["team"]) == ("workers", "a")
        assert "training" in [taint["key"] for taint in node["spec"]["taints"]]
        assert node["status"]["addresses"][0] == {"type": "InternalIP", "address": machine["address"]}
        assert run_on(machine, "cat", "/var/lib/runs") == "run"


def test_a_pod_has_its_limits_and_its_service_account(cluster: Cluster) -> None:
    script = (
        "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max; "
        "folder=/var/run/secrets/kubernetes.io/serviceaccount; "
        'curl --silent --cacert $folder/ca.crt --header "Authorization: Bearer $(cat $folder/token)" '
        "https://kubernetes.default/api/v1/nodes | grep 'cannot list'"
    )
    cluster.start("limited", "sh", "-c", script, container={"resources": {"limits": {"memory": "32Mi"}}}, **TOLERATED)
    limit, refusal = cluster.output("limited").splitlines()
    assert limit == str(32 << 20)
    assert "system:serviceaccount:default:default" in refusal


def test_a_pod_without_the_toleration_waits(cluster: Cluster) -> None:
    cluster.start("unwanted", "true")
    conditions = until(lambda: cluster.pod("unwanted")["status"].get("conditions"), bool, POD_S)
    assert "taint" in conditions[0]["message"]


def test_hyperpods_dependencies_run_and_their_device_plugins_offer_the_devices_of_the_type(cluster: Cluster) -> None:
    until(lambda: [node["status"]["allocatable"] for node in cluster.nodes().values()], _have_devices, POD_S)
    path = "/apis/apps/v1/namespaces/aws-hyperpod/daemonsets/health-monitoring-agent"
    until(lambda: cluster.get(path)["status"], lambda status: status.get("numberReady") == 2, POD_S)


def _have_devices(allocatable: list[dict[str, str]]) -> bool:
    return [(each.get("nvidia.com/gpu"), each.get("vpc.amazonaws.com/efa")) for each in allocatable] == [("8", "32")] * 2


def test_a_pod_gets_as_many_devices_as_it_requests(cluster: Cluster) -> None:
    container = {"resources": {"limits": {"nvidia.com/gpu": "3"}}}
    cluster.start("gpus", "printenv", "SIMULATED_DEVICES", container=container, **TOLERATED)
    assert len(set(cluster.output("gpus").strip().split(","))) == 3


def test_a_daemonset_runs_on_every_node(cluster: Cluster) -> None:
    container = {"name": "it", "image": "localhost/debian:1", "command": ["sleep", "infinity"]}
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container], **TOLERATED}}
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template}
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    cluster.post(path, {"metadata": {"name": "agent"}, "spec": spec})
    until(lambda: cluster.get(f"{path}/agent")["status"], lambda status: status.get("numberReady") == 2, POD_S)


def test_pytorch_on_two_nodes_finds_rank_0_by_the_name_of_a_headless_service(cluster: Cluster) -> None:
    service = {"clusterIP": "None", "selector": {"job": "train"}, "publishNotReadyAddresses": True}
    cluster.post("/api/v1/namespaces/default/services", {"metadata": {"name": "train"}, "spec": service})
    for rank in range(2):
        values = {"MASTER_ADDR": "train-0.train", "MASTER_PORT": "29500", "WORLD_SIZE": "2", "RANK": str(rank), "USE_LIBUV": "0"}
        env = [{"name": name, "value": value} for name, value in values.items()]
        container: dict[str, Any] = {"image": PYTORCH, "env": env, **GPUS}
        own = {"hostname": f"train-{rank}", "subdomain": "train", **TOLERATED}
        cluster.start(f"train-{rank}", "python3", "-c", ALL_REDUCE, labels={"job": "train"}, container=container, **own)
    assert [cluster.output(f"train-{rank}") for rank in range(2)] == ["sum 3.0\n"] * 2
    assert len({cluster.pod(f"train-{rank}")["spec"]["nodeName"] for rank in range(2)}) == 2  # eight GPUs each


def test_a_rebooted_node_runs_pods_with_devices(cluster: Cluster) -> None:
    machine = cluster.runner.describe()[0]
    name = f"hyperpod-{machine['id']}"
    before = kubelet_run(machine)
    cluster.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[machine["id"]])
    until(cluster.world.nodes, lambda nodes: {node["InstanceStatus"]["Status"] for node in nodes} == {"Running"}, POD_S)
    assert kubelet_run(machine) != before
    cluster.start("rebooted", "echo", "runs", nodeName=name)
    assert cluster.output("rebooted") == "runs\n"
    container = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}
    place = {"nodeSelector": {"kubernetes.io/hostname": name}}
    cluster.start("rebooted-gpus", "printenv", "SIMULATED_DEVICES", container=container, **place, **TOLERATED)
    assert len(cluster.output("rebooted-gpus").split(",")) == 8


def kubelet_run(machine: dict[str, str]) -> str:
    return run_on(machine, "systemctl", "show", "--property=InvocationID", "--value", "kubelet")


def test_nothing_of_the_nodes_stays_on_the_machine(cluster: Cluster, before: list[str]) -> None:
    assert kernel() == before  # while kubelets run
    [folder] = {Path(machine["folder"]) for machine in cluster.runner.describe()}
    name = cgroups.name_for(folder)
    places = [cgroups.hierarchy(), *(place for place, _ in cgroups.version_1())]
    assert all((place / name).exists() for place in places)

    cluster.world.sagemaker.delete_cluster(ClusterName="ml")
    cluster.world.until_gone()

    until(lambda: [place for place in places if (place / name).exists()], lambda left: not left, POD_S)
    assert cluster.nodes() == {}
    assert kernel() == before
