"""`hpod drain` and `hpod resume`."""

from collections.abc import Callable

import pytest

from cli.errors import CommandError
from cli.node_actions.drain_commands import drain_nodes, resume_nodes
from cli.result import Block, Result
from tests.unit.cli.commands import data_of
from tests.unit.cli.node_actions.fake_cluster import FIRST, HOSTS, LOGIN, SECOND, FakeCluster, SlurmHost


def test_a_drained_node_has_the_reason_and_the_user(cluster: FakeCluster) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    result = drain_nodes(cluster.deployment(), nodes=["workers-1", LOGIN], reason="ECC errors", shell=cluster.shell)
    assert cluster.shell.hosts[HOSTS[FIRST]].reason == "hpod drain by alice: ECC errors"
    assert cluster.shell.hosts[HOSTS[SECOND]].state == "idle"
    assert [job["id"] for job in data_of(result)["jobs"]] == ["7"]
    assert "to take jobs again: `./hpod resume draft workers-1`" in str(result)


def test_a_node_that_is_drained_keeps_its_reason(cluster: FakeCluster) -> None:
    cluster.shell.hosts[HOSTS[FIRST]] = SlurmHost("drained", "ticket 17")
    drain_nodes(cluster.deployment(), nodes=["workers"], shell=cluster.shell)
    assert cluster.shell.updates == [f"NodeName={HOSTS[SECOND]} State=DRAIN Reason=hpod drain by alice"]


@pytest.mark.parametrize("state", ["drained", "draining", "drained*", "down*"])
def test_drained_and_down_nodes_are_resumed(cluster: FakeCluster, state: str) -> None:
    cluster.shell.hosts[HOSTS[FIRST]] = SlurmHost(state, "ticket 17")
    result = resume_nodes(cluster.deployment(), nodes=["workers"], shell=cluster.shell)
    assert cluster.shell.updates == [f"NodeName={HOSTS[FIRST]} State=RESUME"]
    assert {node["slurm_state"] for node in data_of(result)["nodes"]} == {"idle"}


@pytest.mark.parametrize("command", [drain_nodes, resume_nodes])
def test_nodes_without_slurmd_are_refused(cluster: FakeCluster, command: object) -> None:
    assert callable(command)
    with pytest.raises(CommandError, match="Slurm has none of these nodes: head-1; pass compute nodes"):
        command(cluster.deployment(), nodes=["controller"], shell=cluster.shell)


def test_an_error_of_slurm_names_the_controller(cluster: FakeCluster) -> None:
    cluster.shell.rejects = True
    with pytest.raises(CommandError, match="ip-10-1-0-4: scontrol failed: slurm_update error: Access denied"):
        drain_nodes(cluster.deployment(), nodes=["workers-1"], shell=cluster.shell)


REPLACE = "Action:Replace"


def test_resume_asks_for_nodes_that_other_reasons_drained_and_keeps_their_reasons(cluster: FakeCluster) -> None:
    hosts = cluster.shell.hosts
    hosts[HOSTS[FIRST]], hosts[HOSTS[SECOND]] = SlurmHost("drained", "hpod drain by bob"), SlurmHost("drained", "ticket 17")

    def no(question: str) -> None:
        raise CommandError(question)

    shown: list[Block] = []
    with pytest.raises(CommandError, match=r"^Resume 1 node of draft-1 that ./hpod did not drain\?$"):
        resume_nodes(cluster.deployment(), nodes=["workers"], confirm=no, show=shown.append, shell=cluster.shell)
    assert cluster.shell.updates == []
    assert [("ticket 17" in line, "bob" in line) for line in map(str, shown)] == [(True, False)]
    resume_nodes(cluster.deployment(), nodes=["workers-1"], confirm=no, shell=cluster.shell)
    result = resume_nodes(cluster.deployment(), nodes=["workers-2"], shell=cluster.shell)
    assert [node["former_slurm_reason"] for node in data_of(result)["nodes"]] == ["ticket 17"]
    assert f"former reasons:\n  {HOSTS[SECOND]}: ticket 17" in str(result)


def test_resume_leaves_nodes_that_hyperpod_replaces(cluster: FakeCluster) -> None:
    hosts = cluster.shell.hosts
    hosts[HOSTS[FIRST]], hosts[HOSTS[SECOND]] = SlurmHost("down", REPLACE), SlurmHost("drained", "hpod drain by bob")
    result = resume_nodes(cluster.deployment(), nodes=["workers"], shell=cluster.shell)
    assert cluster.shell.updates == [f"NodeName={HOSTS[SECOND]} State=RESUME"]
    assert f"not resumed, because HyperPod replaces or reboots them: {HOSTS[FIRST]}" in str(result)
    assert result.failure == "resume failed for 1 of 2 nodes"


@pytest.mark.parametrize("command", [drain_nodes, resume_nodes])
def test_a_node_that_slurm_does_not_know_is_a_failure(cluster: FakeCluster, command: Callable[..., Result]) -> None:
    del cluster.shell.hosts[HOSTS[SECOND]]
    result = command(cluster.deployment(), nodes=["workers", "login"], shell=cluster.shell)
    assert [(node["host"], node["message"]) for node in data_of(result)["nodes"] if node["host"] != HOSTS[FIRST]] == [
        (HOSTS[LOGIN], "not a compute node"),
        (HOSTS[SECOND], "unknown to Slurm"),
    ]
    assert f"{HOSTS[SECOND]}  unknown to Slurm" in str(result)
    assert result.failure.endswith("failed for 2 of 3 nodes")
