"""`hpod health-check` starts deep health checks, and finds their results in the operation, the nodes and the log."""

import json

import pytest

from cli.errors import CommandError
from cli.node_actions.health_check import health_check
from cli.render import envelope
from cli.result import Block, Result
from tests.unit.cli.node_actions.fake_cluster import FIRST, HOSTS, SECOND, FakeCluster, FakeTime, results

FAULT = {"level": "error", "msg": "Encountered FaultyInstance. Replace the Instance."}


@pytest.fixture
def gpus(cluster: FakeCluster) -> FakeCluster:
    """The cluster with GPUs in its workers, which are all checked."""
    cluster.types = {"workers": "ml.g5.8xlarge"}
    cluster.under_check = [FIRST, SECOND]
    return cluster


def run(cluster: FakeCluster, *nodes: str, checks: str = "InstanceStress", shown: list[Block] | None = None) -> Result:
    patience = FakeTime().patience()
    show = (shown if shown is not None else []).append
    return health_check(cluster.deployment(), nodes=nodes, checks=checks, patience=patience, show=show, shell=cluster.shell)


def test_nodes_that_were_under_check_and_run_again_have_passed(gpus: FakeCluster) -> None:
    result = run(gpus, "workers", checks="InstanceStress, InstanceConnectivity")
    [(_, request)] = gpus.requests
    assert request["DeepHealthCheckConfigurations"] == [
        {
            "InstanceGroupName": "workers",
            "InstanceIds": [FIRST, SECOND],
            "DeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
        }
    ]
    assert (results(result), result.failure) == ({"workers-1": "passed", "workers-2": "passed"}, "")


def test_a_node_that_was_never_under_check_is_skipped_and_its_jobs_are_shown(gpus: FakeCluster) -> None:
    gpus.under_check = [FIRST]
    gpus.shell.hosts[HOSTS[SECOND]].jobs = ["7"]
    shown: list[Block] = []
    assert results(run(gpus, "workers", shown=shown)) == {"workers-1": "passed", "workers-2": "skipped"}
    assert any("train|it" in str(block) for block in shown)
    assert gpus.shell.updates == []


def test_a_faulty_node_is_named_with_the_log_and_the_next_command(gpus: FakeCluster) -> None:
    gpus.faulty, gpus.records = [SECOND], [json.dumps(FAULT), "plain text"]
    result = run(gpus, "workers")
    assert results(result) == {"workers-1": "passed", "workers-2": "failed"}
    assert result.failure == "1 of 2 nodes faulty"
    assert "Encountered FaultyInstance" in str(result)
    assert "plain text" not in str(result)
    assert "./hpod replace draft workers-2" in str(result)


def test_a_check_that_continues_at_the_deadline_is_not_done(gpus: FakeCluster) -> None:
    gpus.stuck = True
    result = run(gpus, "workers")
    assert set(results(result).values()) == {"in_progress"}
    assert result.failure == "not done after 10 minutes"


def test_a_second_check_at_a_time_is_refused(gpus: FakeCluster) -> None:
    gpus.refuses = {"check": "a deep health check is in progress"}
    with pytest.raises(CommandError, match="a deep health check is in progress; a cluster has one check at a time"):
        run(gpus, "workers")


def test_nodes_without_accelerators_are_refused(cluster: FakeCluster) -> None:
    with pytest.raises(CommandError, match=r"ml\.t3.medium: no accelerators"):
        run(cluster, "workers")


def test_unknown_checks_are_refused(gpus: FakeCluster) -> None:
    with pytest.raises(CommandError, match="--checks: unknown check Stress; pass InstanceStress, InstanceConnectivity"):
        run(gpus, "workers", checks="Stress")


def test_errors_in_the_log_without_a_faulty_node_leave_the_results_unknown(gpus: FakeCluster) -> None:
    gpus.under_check, gpus.records = [FIRST], [json.dumps(FAULT)]
    result = run(gpus, "workers")
    assert results(result) == {"workers-1": "unknown", "workers-2": "skipped"}
    assert "unknown: the log has errors, which name no node" in str(result)
    assert result.failure == "the log has errors"


def test_nodes_without_accelerators_beside_others_are_listed(gpus: FakeCluster) -> None:
    shown: list[Block] = []
    result = run(gpus, "workers", "login", shown=shown)
    assert results(result) == {"workers-1": "passed", "workers-2": "passed", "entry-1": "left_out"}
    assert any(line.startswith("left out: no accelerators") and line.endswith(": entry-1") for line in map(str, shown))
    assert "left out: no accelerators" in str(result)


def test_an_error_of_aws_during_the_wait_keeps_what_is_known_and_names_the_error(gpus: FakeCluster) -> None:
    gpus.faulty, gpus.expires_at_the_end = [SECOND], True
    result = run(gpus, "workers", "login")
    assert results(result) == {"workers-1": "in_progress", "workers-2": "failed", "entry-1": "left_out"}
    assert result.failure.startswith("cannot run `health-check`: ")
    assert "ExpiredToken" in result.failure
    for shown in ("workers-1", "failed: not Running", "the checks continue; see `./hpod status draft`"):
        assert shown in str(result)


def test_an_error_of_aws_before_the_first_look_leaves_all_nodes_in_progress(gpus: FakeCluster) -> None:
    gpus.expires_after = "check"
    result = run(gpus, "workers")
    assert results(result) == {"workers-1": "in_progress", "workers-2": "in_progress"}
    assert "ExpiredToken" in result.failure


def test_a_log_that_cannot_be_read_leaves_the_results_of_nodes_that_run_unknown(gpus: FakeCluster) -> None:
    gpus.faulty, gpus.refuses_logs = [SECOND], True
    result = run(gpus, "workers")
    assert results(result) == {"workers-1": "unknown", "workers-2": "failed"}
    assert "unknown: the log could not be read" in str(result)
    assert result.failure.startswith("1 of 2 nodes faulty, and cannot run `health-check`: ")
    [problem] = json.loads(envelope("health-check", result))["problems"]
    assert "AccessDeniedException" in problem["message"]


def test_errors_of_an_earlier_check_are_not_those_of_this_one(gpus: FakeCluster) -> None:
    gpus.old_records, gpus.records = [json.dumps(FAULT)], [json.dumps({"level": "info", "msg": "passed"})]
    result = run(gpus, "workers")
    assert (results(result), result.failure) == ({"workers-1": "passed", "workers-2": "passed"}, "")
    assert result.data is not None
    assert [record["message"] for record in result.data["log"]] == ["passed"]
