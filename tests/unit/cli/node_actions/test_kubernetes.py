"""Commands on nodes of an EKS cluster: drain, resume, replace, reboot and delete through the Kubernetes API."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_actions.batches import Options
from cli.node_actions.drain_commands import drain_nodes, resume_nodes
from cli.node_actions.health_check import health_check
from cli.node_actions.kubernetes import Kubernetes
from cli.node_actions.recover import recover
from cli.result import Block
from tests.unit.cli.commands import data_of
from tests.unit.cli.fake_eks import FIRST, SECOND, EksDeployment, FakeApiServer
from tests.unit.cli.node_actions.fake_cluster import FakeCluster, FakeTime


class EksCluster(FakeCluster):
    """The cluster with EKS: a new instance registers with Kubernetes."""

    def __init__(self) -> None:
        super().__init__()
        self.server = FakeApiServer()
        self.summaries = [each for each in self.summaries if each["InstanceGroupName"] == "workers"]
        for node in (FIRST, SECOND):
            self.server.node(node)
        self.outputs = [{"OutputKey": "ClusterName", "OutputValue": "draft-1", "Description": "name"}]
        self.health = "Schedulable"

    def deployment(self) -> Deployment:
        return EksDeployment(self, self.server)

    def remove(self, nodes: list[str]) -> None:
        super().remove(nodes)
        for node in nodes:
            del self.server.nodes[f"hyperpod-{node}"]

    def join(self, group: str) -> None:
        super().join(group)
        self.server.node(self.summaries[-1]["InstanceId"], self.health)

    def is_cordoned(self, node: str) -> bool:
        return bool(self.server.nodes[f"hyperpod-{node}"]["spec"].get("unschedulable"))

    def reason(self, node: str) -> str:
        notes: dict[str, str] = self.server.nodes[f"hyperpod-{node}"]["metadata"].get("annotations") or {}
        return notes.get("hyperpod-cdk/drained", "")


@pytest.fixture
def eks(monkeypatch: pytest.MonkeyPatch) -> EksCluster:
    monkeypatch.setattr("getpass.getuser", lambda: "alice")
    monkeypatch.setattr("cli.node_directory.missing_plugin", lambda: CommandError("no plugin"))
    return EksCluster()


def options(minutes: float = 10, **changes: Any) -> Options:
    return Options(patience=FakeTime().patience(minutes), **changes)


def test_a_drained_node_is_cordoned_for_a_reason_and_pods_that_another_node_can_run_leave(eks: EksCluster) -> None:
    eks.server.pod("research/train-0", FIRST)
    eks.server.pod("kube-system/coredns-1", FIRST, "ReplicaSet", "Always")
    eks.server.pod("aws-hyperpod/agent-1", FIRST, "DaemonSet", "Always")
    result = drain_nodes(eks.deployment(), nodes=[f"hyperpod-{FIRST}"], reason="ECC errors")
    assert (eks.is_cordoned(FIRST), eks.reason(FIRST)) == (True, "hpod drain by alice: ECC errors")
    assert not eks.is_cordoned(SECOND)
    assert set(eks.server.pods) == {"research/train-0", "aws-hyperpod/agent-1"}
    assert [job["id"] for job in data_of(result)["jobs"]] == ["research/train-0"]
    assert [node["kubernetes_state"] for node in data_of(result)["nodes"]] == ["Ready,SchedulingDisabled"]
    assert f"to start pods again: `./hpod resume draft hyperpod-{FIRST}`" in str(result)


def test_a_drained_node_stays_drained_when_hyperpods_reboot_clears_the_cordon(eks: EksCluster) -> None:
    """Audit log of 2026-09-09 in yuhuiaws/GPU-Fault-Recovery-System."""
    spec = eks.server.nodes[f"hyperpod-{FIRST}"]["spec"]
    spec["taints"] = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    for _ in range(2):
        drain_nodes(eks.deployment(), nodes=[FIRST], reason="ECC errors")
    assert spec["taints"] == [
        {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
        {"key": "hyperpod-cdk/drained", "effect": "NoSchedule"},
    ]
    del spec["unschedulable"]
    result = resume_nodes(eks.deployment(), nodes=["workers"])
    assert [node["former_kubernetes_reason"] for node in data_of(result)["nodes"]] == ["hpod drain by alice: ECC errors", None]
    assert (spec["taints"], eks.reason(FIRST)) == ([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], "")


def test_a_taint_that_hyperpod_adds_during_a_drain_stays(eks: EksCluster) -> None:
    faulty = {"key": "sagemaker.amazonaws.com/node-health-status", "value": "Unschedulable", "effect": "NoSchedule"}

    def add(node: Any) -> None:
        node["spec"]["taints"] = [faulty]
        node["metadata"]["resourceVersion"] = str(len(eks.server.writers))

    eks.server.writers = [add]
    drain_nodes(eks.deployment(), nodes=[FIRST])
    assert eks.server.nodes[f"hyperpod-{FIRST}"]["spec"]["taints"] == [
        faulty,
        {"key": "hyperpod-cdk/drained", "effect": "NoSchedule"},
    ]
    eks.server.writers = [add] * 9
    with pytest.raises(CommandError, match=f"^node hyperpod-{SECOND}: other clients keep changing it; try again$"):
        drain_nodes(eks.deployment(), nodes=[SECOND])


def test_a_drained_node_is_checked_without_our_taint_and_stays_cordoned(eks: EksCluster) -> None:
    eks.types, eks.under_check = {"workers": "ml.g5.8xlarge"}, [FIRST]
    drain_nodes(eks.deployment(), nodes=[FIRST])
    result = health_check(eks.deployment(), nodes=["workers"], checks="InstanceStress", patience=FakeTime().patience())
    assert not result.failure
    assert (eks.server.nodes[f"hyperpod-{FIRST}"]["spec"]["taints"], eks.is_cordoned(FIRST)) == ([], True)
    assert (eks.reason(FIRST), eks.is_cordoned(SECOND)) == ("hpod drain by alice", False)


def test_a_pod_without_a_controller_is_not_evicted(eks: EksCluster) -> None:
    eks.server.pod("research/shell", FIRST, "", "Always")
    drain_nodes(eks.deployment(), nodes=[FIRST])
    assert set(eks.server.pods) == {"research/shell"}


def test_a_resumed_node_takes_pods_and_has_no_reason(eks: EksCluster) -> None:
    drain_nodes(eks.deployment(), nodes=["workers"])
    result = resume_nodes(eks.deployment(), nodes=[FIRST])
    assert (eks.is_cordoned(FIRST), eks.reason(FIRST)) == (False, "")
    assert eks.is_cordoned(SECOND)
    assert [node["former_kubernetes_reason"] for node in data_of(result)["nodes"]] == ["hpod drain by alice"]


def test_resume_asks_for_nodes_that_kubectl_cordoned_and_leaves_those_that_hyperpod_replaces(eks: EksCluster) -> None:
    eks.server.node(SECOND, "UnschedulablePendingReplacement")
    for node in (FIRST, SECOND):
        eks.server.nodes[f"hyperpod-{node}"]["spec"]["unschedulable"] = True

    def no(question: str) -> None:
        raise CommandError(question)

    with pytest.raises(CommandError, match=r"^Resume 1 node of draft-1 that ./hpod did not drain\?$"):
        resume_nodes(eks.deployment(), nodes=["workers"], confirm=no)
    result = resume_nodes(eks.deployment(), nodes=["workers"])
    assert [eks.is_cordoned(node) for node in (FIRST, SECOND)] == [False, True]
    assert result.failure == "resume failed for 1 of 2 nodes"


def test_a_replaced_node_has_returned_when_hyperpod_lets_pods_start(eks: EksCluster, shown: list[Block]) -> None:
    result = recover(eks.deployment(), "replace", nodes=[FIRST], options=options(), show=shown.append)
    assert not result.failure
    assert "kubelet responds on 1 of 1 nodes" in shown
    assert len(eks.server.nodes) == 2
    assert eks.requests == [("replace", {"ClusterName": "draft-1", "NodeIds": [FIRST]})]


def test_a_new_node_that_fails_its_checks_is_a_problem_and_stays_cordoned(eks: EksCluster) -> None:
    eks.health = "Unschedulable"
    result = recover(eks.deployment(), "replace", nodes=[FIRST], options=options())
    new = eks.summaries[-1]["InstanceId"]
    assert [node["message"] for node in data_of(result)["nodes"]] == ["kubelet does not respond: Ready,Unschedulable"]
    assert eks.is_cordoned(new)


def test_pods_of_jobs_are_waited_for_and_the_node_returns_if_they_do_not_end(eks: EksCluster, shown: list[Block]) -> None:
    eks.server.pod("research/train-0", FIRST)
    result = recover(eks.deployment(), "replace", nodes=["workers"], options=options(), show=shown.append)
    assert eks.requests == []
    assert [eks.is_cordoned(node) for node in (FIRST, SECOND)] == [True, False]
    assert "evicting the pods that another node can run" in "\n".join(map(str, shown))
    assert result.failure == "replace failed for 1 of 2 nodes"


def test_a_pod_that_its_disruption_budget_keeps_is_evicted_when_the_budget_allows_it(eks: EksCluster) -> None:
    eks.server.pod("web/front-1", FIRST, "ReplicaSet", "Always")
    eks.server.protected = {"web/front-1"}
    time = FakeTime()

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        if eks.server.evicted()["front-1"] > 2:
            eks.server.protected = set()

    patience = type(time.patience())(600, sleep, lambda: time.seconds)
    result = recover(eks.deployment(), "replace", nodes=[FIRST], options=Options(patience=patience))
    assert not result.failure
    assert eks.server.pods == {}


@pytest.mark.parametrize(
    "toleration", [{"operator": "Exists"}, {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
)
def test_a_pod_that_can_start_on_a_cordoned_node_is_neither_evicted_nor_waited_for(
    eks: EksCluster, shown: list[Block], toleration: dict[str, str]
) -> None:
    """Its ReplicaSet would start another one on the same node after each eviction."""
    eks.server.pod("kube-system/coredns-1", FIRST, "ReplicaSet", "Always", [toleration])
    result = recover(eks.deployment(), "replace", nodes=[FIRST], options=options(), show=shown.append)
    assert not result.failure
    assert not eks.server.evicted()
    assert shown.count("not waiting for 1 pod that can start on cordoned nodes: kube-system/coredns-1") == 1


@pytest.mark.parametrize(
    "toleration",
    [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unschedulable", "value": "yes"},
    ],
)
def test_a_pod_that_tolerates_other_taints_is_evicted(eks: EksCluster, toleration: dict[str, str]) -> None:
    eks.server.pod("kube-system/coredns-1", FIRST, "ReplicaSet", "Always", [toleration])
    drain_nodes(eks.deployment(), nodes=[FIRST])
    assert eks.server.pods == {}


def test_a_job_that_tolerates_cordons_is_waited_for(eks: EksCluster) -> None:
    eks.server.pod("research/train-0", FIRST, tolerations=[{"operator": "Exists"}])
    assert recover(eks.deployment(), "replace", nodes=[FIRST], options=options()).failure
    assert eks.requests == []


def test_force_does_not_wait_for_pods(eks: EksCluster) -> None:
    eks.server.pod("research/train-0", FIRST)
    assert not recover(eks.deployment(), "replace", nodes=[FIRST], options=options(force=True)).failure


def test_a_rebooted_node_has_another_boot_without_a_session(eks: EksCluster, shown: list[Block]) -> None:
    def reboot() -> None:
        eks.server.node(FIRST, boot="second")

    eks.batch_reboot_cluster_nodes = lambda **_: setattr(eks, "then", [lambda: None, reboot]) or {}  # type: ignore[method-assign, func-returns-value]
    assert not recover(eks.deployment(), "reboot", nodes=[FIRST], options=options(), show=shown.append).failure
    assert [line for line in shown if "rebooted" in str(line)] == ["0 of 1 nodes rebooted", "1 of 1 nodes rebooted"]


def test_without_the_api_server_nodes_are_replaced_only_with_no_drain(eks: EksCluster) -> None:
    eks.server.error = TimeoutError("timed out")
    with pytest.raises(CommandError, match=r"cannot reach Kubernetes: API server of EKS cluster draft: .*pass --no-drain"):
        recover(eks.deployment(), "replace", nodes=[FIRST], options=options())
    assert not recover(eks.deployment(), "replace", nodes=[FIRST], options=options(drain=False)).failure


def test_missing_rights_are_not_answered_by_skipping_the_drain(eks: EksCluster) -> None:
    eks.server.status, eks.server.message = 401, "Unauthorized"
    with pytest.raises(
        CommandError, match=r"^API server of EKS cluster draft: unauthorized; use a role of `eks.admins`"
    ) as refused:
        recover(eks.deployment(), "replace", nodes=[FIRST], options=options())
    assert "--no-drain" not in str(refused.value)
    with pytest.raises(CommandError, match=r"lists the roles with access$"):
        drain_nodes(eks.deployment(), nodes=[FIRST])
    assert not recover(eks.deployment(), "replace", nodes=[FIRST], options=options(drain=False)).failure


def test_pods_of_all_pages_are_read() -> None:
    server = FakeApiServer()
    server.node(FIRST)
    server.page_size = 2
    for number in range(5):
        server.pod(f"research/train-{number}", FIRST)
    kubernetes = Kubernetes(EksDeployment(None, server).kubernetes, lambda: datetime(2026, 11, 22, 12, tzinfo=UTC))
    jobs = kubernetes.jobs({f"hyperpod-{FIRST}"})
    assert [job.id for job in jobs] == [f"research/train-{number}" for number in range(5)]
    assert {job.elapsed for job in jobs} == {"1:00:00"}
    assert server.is_closed
