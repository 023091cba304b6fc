"""`hpod delete` keeps the file and the cluster in agreement."""

from pathlib import Path
from typing import Any

import pytest

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_actions.batches import Options, Outcome
from cli.node_actions.delete import delete
from cli.node_directory import node_directory
from cli.result import Result
from tests.unit.cli.commands import data_of
from tests.unit.cli.fake_nodes import FILE
from tests.unit.cli.fake_stack import Json
from tests.unit.cli.node_actions.fake_cluster import FIRST, HOSTS, LOGIN, SECOND, FakeCluster, FakeTime
from tests.unit.cli.test_retained import parsed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "draft.yaml"
    path.write_text(FILE)
    return path


def run(cluster: FakeCluster, file: Path, *nodes: str, scale: bool = False, **options: Any) -> Result:
    chosen = Options(**{"patience": FakeTime().patience(), **options})
    return delete(cluster.deployment(), nodes=nodes, file=file, options=chosen, scale=scale, shell=cluster.shell)


def outcomes(result: Result) -> dict[str, tuple[str, str | None]]:
    return {node["name"]: (node["result"], node["message"]) for node in data_of(result)["nodes"]}


def test_a_message_does_not_repeat_the_result(cluster: FakeCluster) -> None:
    [node] = node_directory(cluster.deployment(), cluster.shell).find(FIRST)
    found = (Outcome(node), Outcome(node, tried=False), Outcome(node, problem="refused"))
    assert [each.data()["message"] for each in found] == [None, None, "refused"]


def test_scale_deletes_the_node_and_lowers_the_count(cluster: FakeCluster, file: Path) -> None:
    result = run(cluster, file, "workers-1", scale=True)
    assert result.failure == ""
    assert cluster.requests == [("delete", {"ClusterName": "draft-1", "NodeIds": [FIRST]})]
    assert cluster.shell.updates == [f"NodeName={HOSTS[FIRST]} State=DRAIN Reason=hpod delete by alice"]
    assert file.read_text() == FILE.replace("instance_count: 2", "instance_count: 1")
    assert "cdk deploy" in str(result)


def test_a_count_in_the_file_that_a_deployment_would_restore_is_refused(cluster: FakeCluster, file: Path) -> None:
    with pytest.raises(
        CommandError, match=r"workers: 1 node would be left, and instance_count is 2, .*; pass --scale to set it to 1"
    ):
        run(cluster, file, "workers-1")
    assert (cluster.requests, cluster.shell.updates) == ([], [])


def test_a_node_beyond_the_count_of_its_group_is_deleted_without_a_new_count(
    cluster: FakeCluster, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.join("workers")
    described = cluster.describe_cluster

    def describe(**request: str) -> Json:
        groups = [{**each, "TargetCount": min(2, each["TargetCount"])} for each in described(**request)["InstanceGroups"]]
        return {**described(**request), "InstanceGroups": groups}

    monkeypatch.setattr(cluster, "describe_cluster", describe)
    assert run(cluster, file, "workers-3").failure == ""


def test_a_count_that_was_lowered_first_is_met(cluster: FakeCluster, file: Path) -> None:
    cluster.join("workers")
    assert run(cluster, file, "workers-3").failure == ""
    assert file.read_text() == FILE


def test_a_node_that_stays_is_counted_in_the_file(cluster: FakeCluster, file: Path) -> None:
    cluster.refuses = {SECOND: "NodeIdInUse"}
    result = run(cluster, file, "workers", scale=True)
    assert result.failure == "delete failed for 1 of 2 nodes"
    assert "NodeIdInUse: not now" in str(result)
    assert file.read_text() == FILE.replace("instance_count: 2", "instance_count: 1")


def test_a_count_that_breaks_a_rule_is_refused_before_a_node_is_deleted(cluster: FakeCluster, file: Path) -> None:
    file.write_text(FILE.replace("  - {name: workers", "  - &w {name: workers"))
    file.write_text(file.read_text() + "  - {name: more, role: nonsense, instance_type: ml.t3.medium, instance_count: 1}\n")
    with pytest.raises(Exception, match="role"):
        run(cluster, file, "workers-1", scale=True)
    assert cluster.requests == []


def test_fewer_nodes_than_the_minimum_are_refused(cluster: FakeCluster, file: Path) -> None:
    text = FILE.replace("instance_count: 2", "instance_count: 2, min_instance_count: 2")
    session: Any = cluster
    with pytest.raises(CommandError, match=r"1 node would be left, and min_instance_count is 2; lower it first"):
        delete(
            Deployment(parsed(text), session), nodes=["workers-1"], file=file, options=Options(), scale=True, shell=cluster.shell
        )
    assert cluster.requests == []


def test_controllers_are_refused_and_login_nodes_are_not_drained(cluster: FakeCluster, file: Path) -> None:
    with pytest.raises(CommandError, match="HyperPod keeps Slurm controllers"):
        run(cluster, file, "controller")
    assert run(cluster, file, LOGIN, scale=True).failure == ""
    assert cluster.shell.updates == []


def test_a_running_compute_node_that_slurm_does_not_list_is_refused(cluster: FakeCluster, file: Path) -> None:
    del cluster.shell.hosts[HOSTS[FIRST]]
    with pytest.raises(CommandError, match=r"^unknown to Slurm: workers-1; pass --no-drain to go on$"):
        run(cluster, file, "workers-1", scale=True)
    assert cluster.requests == []
    assert run(cluster, file, "workers-1", scale=True, drain=False).failure == ""


def test_a_group_that_is_not_in_the_file_is_named_and_has_no_new_count(cluster: FakeCluster, file: Path) -> None:
    cluster.join("former")
    cluster.join("former")
    result = run(cluster, file, "former-1", "workers-1", scale=True)
    assert result.failure == ""
    assert file.read_text() == FILE.replace("instance_count: 2", "instance_count: 1")
    assert "not in the cluster file, so without a new count: former" in str(result)
    assert data_of(result)["groups_not_in_file"] == ["former"]


def test_scale_never_raises_a_count(cluster: FakeCluster, file: Path) -> None:
    for _ in range(3):
        cluster.join("workers")
    result = run(cluster, file, "workers-1", scale=True)
    assert result.failure == ""
    assert file.read_text() == FILE
    assert data_of(result)["edits"] == []


def test_a_node_that_stays_raises_no_count(cluster: FakeCluster, file: Path) -> None:
    for _ in range(2):
        cluster.join("workers")
    cluster.refuses = {SECOND: "NodeIdInUse"}
    run(cluster, file, "workers-1", "workers-2", scale=True)
    assert file.read_text() == FILE


def test_credentials_that_expire_during_the_wait_keep_the_result(cluster: FakeCluster, file: Path) -> None:
    cluster.expires_after = "delete"
    result = run(cluster, file, "workers-1", scale=True)
    assert result.failure == "delete failed for 1 of 1 node"
    assert "(ExpiredToken)" in str(result)
    assert "./hpod resume draft workers-1" in str(result)


def test_nodes_without_jobs_are_resumed_if_the_jobs_of_others_do_not_end(cluster: FakeCluster, file: Path) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    result = run(cluster, file, "workers", scale=True)
    assert cluster.requests == []
    assert cluster.shell.hosts[HOSTS[SECOND]].state == "idle"
    assert "not started: resumed, because jobs on other nodes did not end" in str(result)
    assert outcomes(result) == {
        "workers-1": ("failed", "1 job still running after 10 minutes"),
        "workers-2": ("not_started", "resumed, because jobs on other nodes did not end"),
    }
    assert file.read_text() == FILE
