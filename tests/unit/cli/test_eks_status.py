"""`hpod status`, `hpod nodes` and `hpod events` of an EKS cluster: Kubernetes' states beside HyperPod's."""

from pathlib import Path
from typing import Any

import pytest

from cli.confirm import without_asking
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.events.command import events
from cli.node_directory import node_directory
from cli.nodes import nodes
from cli.reach.rerun_scripts import rerun_scripts
from cli.result import Json, Result, Table
from cli.status.command import status
from tests.unit.cli.commands import data_of
from tests.unit.cli.fake_eks import EksDeployment, FakeApiServer, FakeEks, FakeSession, eks_config
from tests.unit.cli.fake_nodes import FakeShell
from tests.unit.cli.fake_operations import NOW, FakeOperations, ago, node

FIRST, SECOND = f"i-{2:017d}", f"i-{3:017d}"


CLUSTER_LOG = "/aws/sagemaker/Clusters/draft-1/abcdefghijkl"


@pytest.fixture
def account() -> FakeOperations:
    account = FakeOperations()
    account.nodes = [node("workers", 2), node("workers", 3)]
    return account


@pytest.fixture
def server() -> FakeApiServer:
    server = FakeApiServer()
    server.node(FIRST)
    server.node(SECOND)
    return server


def rows(result: Result, head: str) -> list[list[str]]:
    """The rows of the table with this column."""
    [table] = [block for block in result.text if isinstance(block, Table) and head in block.head]
    return [[str(cell) for cell in row] for row in table.rows]


def test_a_node_has_hyperpods_state_and_kubernetes_state_side_by_side(account: FakeOperations, server: FakeApiServer) -> None:
    server.node(SECOND, "Unschedulable", **{"sagemaker.amazonaws.com/deep-health-check-status": "InProgress"})
    server.nodes[f"hyperpod-{FIRST}"]["spec"]["unschedulable"] = True
    result = status(EksDeployment(account, server), now=NOW)
    assert rows(result, "DEEP CHECK") == [
        [FIRST, "workers", "Running", "Ready,cordoned", "Schedulable", "-"],
        [SECOND, "workers", "Running", "Ready", "Unschedulable", "InProgress"],
    ]
    assert "Kubernetes: 2 of 2 nodes Ready, 1 cordoned" in str(result)
    assert "Slurm" not in str(result)
    assert rows(result, "INSTANCE TYPE")[0][1] == "ml.x"
    [table] = [block for block in result.text if isinstance(block, Table) and "DEEP CHECK" in block.head]
    assert max(map(len, str(table).splitlines())) <= 80
    assert data_of(result)["nodes"][0]["kubernetes"]["state"] == "Ready,SchedulingDisabled"


def test_a_group_named_like_a_node_is_the_group_as_hyperpods_names_are_unknown_on_eks(
    account: FakeOperations, server: FakeApiServer
) -> None:
    account.nodes.append(node("workers-1", 4))
    directory = node_directory(EksDeployment(account, server), FakeShell())
    assert [each.instance for each in directory.find("workers-1")] == [f"i-{4:017d}"]


def test_hyperpods_name_of_a_node_on_eks_is_refused_with_its_name_in_kubernetes(
    account: FakeOperations, server: FakeApiServer
) -> None:
    directory = node_directory(EksDeployment(account, server), FakeShell())
    fix = f"HyperPod's names are not accepted on EKS: pass a name in Kubernetes, e.g. hyperpod-{FIRST}, or the group workers"
    with pytest.raises(CommandError, match=f"^unknown node 'workers-1'; {fix}$"):
        directory.find("workers-1")
    with pytest.raises(CommandError, match=r"^unknown node 'worker'; did you mean workers"):
        directory.find("worker")


def test_the_reasons_of_a_sick_node_are_shown(account: FakeOperations, server: FakeApiServer) -> None:
    labels = {"sagemaker.amazonaws.com/fault-reason": "XidHardwareFailure"}
    server.node(SECOND, "UnschedulablePendingReplacement", ready="Unknown", **labels)
    result = status(EksDeployment(account, server), now=NOW)
    assert rows(result, "DEEP CHECK")[1][3:5] == ["NotReady", "PendingReplacement"]
    assert f"{SECOND}: Ready is Unknown: kubelet stopped posting node status; " in str(result)
    assert "fault-reason: XidHardwareFailure" in str(result)
    assert data_of(result)["nodes"][1]["kubernetes"]["health_status"] == "UnschedulablePendingReplacement"


def test_an_instance_without_a_node_in_kubernetes_has_not_joined(account: FakeOperations, server: FakeApiServer) -> None:
    del server.nodes[f"hyperpod-{SECOND}"]
    assert rows(status(EksDeployment(account, server), now=NOW), "DEEP CHECK")[1][3] == "not joined"


def test_pods_that_do_not_run_are_named(account: FakeOperations, server: FakeApiServer) -> None:
    waiting = [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]
    server.pod("research/train-0", FIRST, phase="Pending", containerStatuses=waiting)
    server.pod("research/train-1", FIRST)
    result = status(EksDeployment(account, server), now=NOW)
    assert "pods that do not run: research/train-0 (ImagePullBackOff)\n" in f"{result}\n"
    assert "train-1" not in str(result)


@pytest.mark.parametrize("command", ["status", "nodes"])
def test_without_the_api_server_the_rest_is_shown_with_the_reason(
    account: FakeOperations, server: FakeApiServer, command: str
) -> None:
    server.error = TimeoutError("timed out")
    deployment = EksDeployment(account, server)
    result = nodes(deployment, FakeShell()) if command == "nodes" else status(deployment, now=NOW)
    [line] = [
        line for line in str(result).splitlines() if line.startswith("Kubernetes: unknown; API server of EKS cluster draft")
    ]
    assert "the API server does not answer (TimeoutError: timed out)" in line
    assert "see `eks.endpoint_access`" in line
    assert {row[3] for row in rows(result, "KUBERNETES")} == {"unknown"}
    assert [problem["level"] for problem in result.problems] == ["warning"]


def test_a_role_without_access_learns_how_to_get_it(account: FakeOperations, server: FakeApiServer) -> None:
    server.status = 403
    fix = "use a role of `eks.admins`; `./hpod kubeconfig draft` lists the roles with access"
    assert f"forbidden: nodes is forbidden; {fix}" in str(status(EksDeployment(account, server), now=NOW))


def test_without_administrators_in_the_file_the_fix_is_to_name_one(account: FakeOperations, server: FakeApiServer) -> None:
    server.status, server.message = 401, "Unauthorized"
    config = eks_config(eks={"version": "1.34", "admins": []})
    text = str(status(EksDeployment(account, server, config=config), now=NOW))
    fix = "the file has no administrators: set `eks.admins`, then run `cdk deploy 'draft/*'`"
    assert f"Kubernetes: unknown; API server of EKS cluster draft: unauthorized; {fix}" in text


@pytest.mark.parametrize("command", ["status", "nodes"])
def test_a_member_of_a_team_sees_the_nodes_although_the_role_may_not_read_all_pods(
    account: FakeOperations, server: FakeApiServer, command: str
) -> None:
    server.forbidden.add("/api/v1/pods")
    deployment = EksDeployment(account, server)
    result = nodes(deployment, FakeShell()) if command == "nodes" else status(deployment, now=NOW)
    assert {row[3] for row in rows(result, "KUBERNETES")} == {"Ready"}
    lines = str(result).splitlines()
    assert "Kubernetes: 2 of 2 nodes Ready" in lines
    assert any(line.startswith("pods: not readable with this role; use a role of `eks.admins`") for line in lines)
    assert [problem["message"] for problem in result.problems] == ["pods: not readable with this role"]
    if command == "status":
        assert data_of(result)["kubernetes"]["pods"] is None


def test_a_deleted_eks_cluster_leaves_a_report(account: FakeOperations) -> None:
    eks = FakeEks()
    eks.clusters.clear()
    session: Any = FakeSession(eks, account)
    assert "Kubernetes: unknown; EKS cluster 'draft' does not exist" in str(status(Deployment(eks_config(), session), now=NOW))


def test_the_next_command_names_the_folder_of_the_file(account: FakeOperations, server: FakeApiServer) -> None:
    kubernetes_event(server, "NodeNotReady", "Normal")
    deployment = EksDeployment(account, server, folder=Path("examples/clusters"))
    option = "--clusters examples/clusters"
    report = status(deployment, now=NOW)
    assert f"`./hpod events draft {option}` shows more" in str(report)
    assert data_of(report)["events"][-1]["fix"].startswith(f"`./hpod reboot draft {option} {FIRST}`")
    assert f"`./hpod ssh draft NODE {option}`" in str(nodes(deployment, FakeShell()))


def kubernetes_event(server: FakeApiServer, reason: str, kind: str = "Warning", minutes: float = 5, **fields: object) -> None:
    """Write an event of a node."""
    name = f"hyperpod-{FIRST}"
    server.objects["/api/v1/events"][f"{reason}{minutes}"] = {
        "metadata": {"name": reason},
        "involvedObject": {"kind": "Node", "name": name},
        "type": kind,
        "reason": reason,
        "message": f"Node {name} status is now: {reason}",
        "lastTimestamp": ago(minutes).isoformat().replace("+00:00", "Z"),
        **fields,
    }


def happened(account: FakeOperations, server: FakeApiServer, source: str) -> list[Json]:
    """The events of a source, as `hpod events` returns them."""
    result = events(EksDeployment(account, server), now=lambda: NOW)
    return [each for each in data_of(result)["events"] if each["source"] == source]


def test_events_of_nodes_have_a_verdict(account: FakeOperations, server: FakeApiServer) -> None:
    kubernetes_event(server, "NodeNotReady", "Normal", count=3)
    kubernetes_event(server, "NodeReady", "Normal", minutes=4)
    kubernetes_event(server, "ImageGCFailed", lastTimestamp=None, eventTime=ago(3).isoformat())
    found = happened(account, server, "kubernetes")
    assert [(each["kind"], each["verdict"]) for each in found] == [
        ("Normal NodeNotReady", "act"),
        ("Normal NodeReady", "ok"),
        ("Warning ImageGCFailed", "watch"),
    ]
    assert found[0]["fix"].startswith(f"`./hpod reboot draft {FIRST}`")
    assert found[0]["message"].endswith("(3 times)")


def test_old_events_of_nodes_are_left_out(account: FakeOperations, server: FakeApiServer) -> None:
    kubernetes_event(server, "NodeNotReady", minutes=25 * 60)
    assert happened(account, server, "kubernetes") == []


def test_a_faulty_instance_of_a_deep_health_check_names_the_command(account: FakeOperations, server: FakeApiServer) -> None:
    faulty = f"Encountered FaultyInstance. Replace the Instance. Region: us-west-2, InstanceId: {FIRST}. ERROR: Bandwidth"
    account.log(CLUSTER_LOG, "DeepHealthCheckResults/abc", ago(9), {"level": "error", "msg": faulty})
    account.log(CLUSTER_LOG, "DeepHealthCheckResults/abc", ago(8), {"level": "info", "msg": "NCCL test passed"})
    found = happened(account, server, "deep check")
    assert [(each["subject"], each["verdict"]) for each in found] == [(FIRST, "act"), (None, "ok")]
    assert found[0]["fix"].startswith(f"`./hpod replace draft {FIRST}`")


def test_without_the_api_server_the_other_events_are_shown(account: FakeOperations, server: FakeApiServer) -> None:
    account.log(CLUSTER_LOG, "DeepHealthCheckResults/abc", ago(8), {"level": "info", "msg": "NCCL test passed"})
    server.error = TimeoutError("timed out")
    result = events(EksDeployment(account, server), now=lambda: NOW)
    assert len(data_of(result)["events"]) == 1
    assert "events of Kubernetes: API server of EKS cluster draft: unavailable" in str(result)


def test_scripts_are_not_applied_to_nodes_of_eks(account: FakeOperations, server: FakeApiServer) -> None:
    with pytest.raises(CommandError, match=r"uses EKS, .*; run `./hpod replace draft NODE`"):
        rerun_scripts(EksDeployment(account, server), node=None, timeout_s=1, confirm=without_asking, shell=FakeShell())
