"""What the checks make of what they see; the embedded AWS with nodes shows only that they pass."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from cli.remote.sessions import Target
from cli.remote.shell import Output, ShellError
from tests.verify_aws import checks
from tests.verify_aws.cdk import Cdk, CdkError
from tests.verify_aws.checks import CheckFailedError, Run
from tests.verify_aws.live_cluster import LiveCluster
from tests.verify_aws.node_report import NodeReport
from tests.verify_aws.plan import Plan

Json = dict[str, Any]
LOST = "the session ended without the command's end"
REJECTED = "srun: error: Unable to allocate resources: Requested topology configuration is not available"


class FakeCdk:
    """`cdk deploy` that fails, or not."""

    def __init__(self, folder: Path, error: str = "") -> None:
        self.folder, self.error = folder, error

    def deploy(self, *, first: bool, timeout_s: float) -> None:
        if self.error:
            raise CdkError(self.error)


class FakeCluster:
    """A cluster with these nodes, whose custom resource logged these notes."""

    def __init__(self, notes: Iterable[str] = (), statuses: Iterable[str] = (), status: str = "InService") -> None:
        self._steps = [{"request": "Create Cluster", "note": note} for note in notes]
        groups = ("controller", "workers", "workers")
        self._nodes = [
            {"InstanceGroupName": group, "InstanceId": f"i-{number}", "InstanceStatus": {"Status": each}}
            for number, (group, each) in enumerate(zip(groups, statuses, strict=False))
        ]
        self._status = status
        self.saved: list[str] = []

    def steps(self) -> list[Json]:
        return self._steps

    def described(self) -> Json | None:
        return {"ClusterName": "verify-1", "ClusterStatus": self._status} if self._nodes else None

    def cluster(self) -> Json:
        return cast("Json", self.described())

    def nodes(self, group: str = "") -> list[Json]:
        return [node for node in self._nodes if group in ("", node["InstanceGroupName"])]

    def target(self, node: Json) -> Target:
        return Target("id", node["InstanceGroupName"], node["InstanceId"])

    def failures(self) -> list[str]:
        return ["Cluster CREATE_FAILED: no capacity"]

    def save_answers(self, checkpoint: str) -> None:
        self.saved.append(checkpoint)

    def save_logs(self) -> None:
        self.saved.append("logs")


class FakeShell:
    """A shell on nodes that prints the next text, the last one repeatedly; LOST loses the session, and REJECTED fails."""

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)
        self.time_limits: dict[str, float] = {}

    def run(self, target: Target, script: str, timeout_s: float = 120.0) -> Output:
        self.time_limits[script.splitlines()[-1].split()[0]] = timeout_s
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        if text == LOST:
            raise ShellError(text)
        return Output(int(text == REJECTED), text)


@pytest.fixture
def run_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    monkeypatch.setattr(checks, "POLL_S", 0.001)
    monkeypatch.setattr(checks, "SETTLES_WITHIN_S", 0.05)
    plan = Plan("verify", "us-west-2", "usw2-az1")

    def make(cluster: FakeCluster, *texts: str, error: str = "") -> Run:
        cdk = cast("Cdk", FakeCdk(tmp_path, error))
        return Run(plan, cdk, cast("LiveCluster", cluster), FakeShell(*texts or ("",)), float("inf"), lambda _: None)

    return make


def test_a_request_that_was_rejected_is_not_accepted(run_of: Callable[..., Run]) -> None:
    notes = ["waiting until Step Functions lists every request", "CreateCluster was rejected: ValidationException: no"]
    with pytest.raises(CheckFailedError, match="status 1\nCluster CREATE_FAILED: no capacity"):
        checks.request_accepted(run_of(FakeCluster(notes), error="`cdk deploy` ended with status 1"))


def test_a_request_of_a_cluster_that_failed_later_is_accepted(run_of: Callable[..., Run]) -> None:
    run = run_of(FakeCluster(["CreateCluster", "no capacity"]), error="`cdk deploy` ended with status 1")
    assert checks.request_accepted(run) == "accepted; the cluster no longer exists"
    with pytest.raises(CheckFailedError, match="no capacity"):
        checks.nodes_in_service(run)


def test_a_node_that_does_not_run_fails_the_second_check(run_of: Callable[..., Run]) -> None:
    with pytest.raises(CheckFailedError, match="cluster InService, nodes: controller Running, workers Pending"):
        checks.nodes_in_service(run_of(FakeCluster(statuses=["Running", "Pending"])))


def test_a_node_whose_users_reach_the_metadata_service_fails_the_second_check(
    run_of: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {path: "" for required in checks.REQUIRED.values() for path in required}
    report = NodeReport(files, {"metadata-as-nobody": "169.254.0.2\n", "slurm-version": "slurm 24.11.5"})
    monkeypatch.setattr(Run, "save_nodes", lambda *_: [report])
    with pytest.raises(CheckFailedError, match=r"a user of a node of controller reaches the metadata service: 169\.254\.0\.2"):
        checks.nodes_in_service(run_of(FakeCluster(statuses=["Running"] * 2), "ip-10-1-0-5 idle"))


@pytest.mark.parametrize(
    "text", ["ip-10-1-0-5 down*", "ip-10-1-0-5 idle\nip-10-1-0-6 idle", "", "slurm_load_partitions: error", LOST]
)
def test_other_than_the_expected_idle_nodes_fail(text: str, run_of: Callable[..., Run]) -> None:
    seen = text if text == LOST else f"sinfo printed: {text or 'nothing'}"
    with pytest.raises(CheckFailedError, match=re.escape(f"expected 1 idle nodes in partition first; {seen}")):
        run_of(FakeCluster(statuses=["Running"]), text).until_idle("first", 1)


def test_a_late_node_and_a_lost_session_are_waited_for(run_of: Callable[..., Run]) -> None:
    run = run_of(FakeCluster(statuses=["Running"]), "", LOST, "ip-10-1-0-5 unknown*", "ip-10-1-0-5 idle")
    assert run.until_idle("first", 1) == ["ip-10-1-0-5"]


def test_jobs_have_more_time_than_srun_waits_for_a_node(run_of: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(FakeCluster(statuses=["Running"]), "ip-10-1-0-5 idle")
    monkeypatch.setattr(run, "save_nodes", lambda *_: [])
    checks.new_group(run)
    limits = cast("FakeShell", run.shell).time_limits
    assert (limits["srun"], limits["sbatch"]) == (180.0, 180.0)


def test_a_job_that_slurm_rejects_while_nodes_join_is_tried_again(run_of: Callable[..., Run]) -> None:
    run_of(FakeCluster(statuses=["Running"]), REJECTED, LOST, "").until_ended("srun", "hostname")
    with pytest.raises(CheckFailedError, match=re.escape(f"expected srun to run a job; it ended with status 1: {REJECTED}")):
        run_of(FakeCluster(statuses=["Running"]), REJECTED).until_ended("srun", "hostname")


def test_an_update_after_the_creation_fails_the_third_check(run_of: Callable[..., Run]) -> None:
    cluster = FakeCluster(["CreateCluster", "UpdateCluster: NodeRecovery", ""], ["Running"])
    with pytest.raises(CheckFailedError, match="updated its new cluster: UpdateCluster: NodeRecovery"):
        checks.no_needless_update(run_of(cluster))
    assert cluster.saved == ["created", "logs"]


def test_a_log_without_the_creation_proves_nothing(run_of: Callable[..., Run]) -> None:
    with pytest.raises(CheckFailedError, match="no step of the creation"):
        checks.no_needless_update(run_of(FakeCluster(statuses=["Running"])))


def test_nodes_that_stay_listed_fail_the_way_to_zero(run_of: Callable[..., Run]) -> None:
    with pytest.raises(CheckFailedError, match="expected no node of group workers; i-1 ShuttingDown"):
        run_of(FakeCluster(statuses=["Running", "ShuttingDown"])).until_empty("workers")


def test_after_a_failure_available_answers_are_saved_and_missing_ones_reported(run_of: Callable[..., Run]) -> None:
    said: list[str] = []
    run = run_of(cluster := FakeCluster(statuses=["Running"]))
    run.say = said.append
    run.save_after_failure("failed-4")
    assert cluster.saved == ["failed-4"]
    assert said[0].startswith("failed-4: not everything is saved: sagemaker-cluster:id_controller-i-0: no output of df")


def test_a_bug_in_saving_does_not_end_the_run(run_of: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run, said = run_of(cluster := FakeCluster(statuses=["Running"])), list[str]()
    run.say = said.append
    monkeypatch.setattr(cluster, "save_answers", Mock(side_effect=KeyError("Nodes")))
    run.save_after_failure("failed-4")
    assert said == ["failed-4: not everything is saved: KeyError('Nodes')"]
