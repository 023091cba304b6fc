"""`hpod replace` and `hpod reboot` on a cluster that changes while they wait."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from cli.errors import CommandError
from cli.node_actions.batches import Options
from cli.node_actions.recover import recover
from cli.result import Block, Result
from tests.unit.cli.node_actions.fake_cluster import FIRST, HEAD, HOSTS, LOGIN, SECOND, FakeCluster, FakeTime, SlurmHost, results

Run = Callable[..., Result]


@pytest.fixture
def run(cluster: FakeCluster, shown: list[Block]) -> Run:
    """Run a command on nodes."""

    def run(action: str, *nodes: str, **options: Any) -> Result:
        return recover(
            cluster.deployment(),
            action,
            nodes=nodes,
            options=Options(**{"patience": FakeTime().patience(), **options}),
            show=shown.append,
            shell=cluster.shell,
        )

    return run


def test_a_replaced_node_is_drained_first_and_its_successor_checked(cluster: FakeCluster, run: Run) -> None:
    result = run("replace", "workers-1", reason="ECC")
    assert cluster.requests == [("replace", {"ClusterName": "draft-1", "NodeIds": [FIRST]})]
    assert cluster.shell.updates == [f"NodeName={HOSTS[FIRST]} State=DRAIN Reason=hpod replace by alice: ECC"]
    assert result.failure == ""
    assert result.data is not None
    assert result.data["nodes"][0]["new_instance_id"] == "i-00000000000000001"


def test_a_rebooted_node_is_resumed(cluster: FakeCluster, run: Run) -> None:
    result = run("reboot", HOSTS[FIRST])
    assert result.failure == ""
    assert [update.split()[1] for update in cluster.shell.updates] == ["State=DRAIN", "State=RESUME"]
    assert cluster.shell.hosts[HOSTS[FIRST]].state == "idle"


def test_the_command_waits_for_running_jobs_and_shows_them(cluster: FakeCluster, run: Run, shown: list[Block]) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7", "7", "7", "ends"]
    assert run("reboot", "workers-1").failure == ""
    assert any("JOB  USER   STATE" in str(line) and "train|it" in str(line) for line in shown)
    assert any(str(line).startswith("waiting for 1 job to end: 7") for line in shown)


def test_nodes_without_jobs_are_resumed_if_the_jobs_of_others_do_not_end(
    cluster: FakeCluster, run: Run, shown: list[Block]
) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    result = run("replace", "workers")
    assert cluster.requests == []
    assert results(result) == {"workers-1": "failed", "workers-2": "not_started"}
    assert {host: each.state for host, each in cluster.shell.hosts.items()} == {HOSTS[FIRST]: "drained", HOSTS[SECOND]: "idle"}
    table, details, _ = map(str, result.text)
    assert max(map(len, table.splitlines())) <= 80
    assert details.splitlines() == [
        "workers-1: failed: 1 job still running after 10 minutes",
        "workers-2: not started: resumed, because jobs on other nodes did not end",
    ]
    assert "resumed 1 node without jobs" in shown
    assert "once they are healthy: `./hpod resume draft workers-1`\n" in str(result)
    assert "to try again: `./hpod replace draft workers" in str(result)


def test_nodes_that_were_drained_before_are_not_resumed_at_the_deadline(cluster: FakeCluster, run: Run) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    cluster.shell.hosts[HOSTS[SECOND]] = SlurmHost("drained", "ticket 17")
    assert results(run("replace", "workers")) == {"workers-1": "failed", "workers-2": "failed"}
    assert cluster.shell.hosts[HOSTS[SECOND]] == SlurmHost("drained", "ticket 17")


def test_a_new_node_that_is_gone_again_fails(cluster: FakeCluster, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*_: object) -> dict[str, str]:
        cluster.remove([FIRST])
        return {}

    monkeypatch.setattr("cli.node_actions.batches.rebooted", leave)
    assert "failed: no longer in the cluster" in str(run("reboot", "workers-1"))


@pytest.mark.parametrize("options", [{"force": True}, {"drain": False}])
def test_force_and_no_drain_do_not_wait_and_say_that_jobs_end(
    cluster: FakeCluster, run: Run, shown: list[Block], options: dict[str, bool]
) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    assert run("replace", "workers-1", **options).failure == ""
    assert any("these jobs end; Slurm requeues batch jobs" in str(line) for line in shown)
    assert bool(cluster.shell.updates) == ("force" in options)


def test_a_node_that_fails_its_check_is_drained_again(cluster: FakeCluster, run: Run) -> None:
    cluster.shell.unhealthy = {"i-00000000000000001"}
    result = run("replace", "workers-1")
    assert cluster.shell.hosts["ip-10-1-1-1"] == SlurmHost("drained", "hpod replace by alice: not healthy")
    assert "failed: fsx: /fsx is not mounted; mount it" in str(result)
    assert "./hpod resume draft workers-2" in str(result)


def test_a_node_that_was_drained_for_another_reason_stays_drained(cluster: FakeCluster, run: Run) -> None:
    cluster.shell.hosts[HOSTS[FIRST]] = SlurmHost("drained", "ticket 17")
    result = run("reboot", "workers-1", "workers-2")
    assert result.failure == ""
    assert "healthy, stays drained: ticket 17" in str(result)
    assert cluster.shell.hosts[HOSTS[FIRST]].reason == "ticket 17"
    assert cluster.shell.hosts[HOSTS[SECOND]].state == "idle"


def test_what_an_earlier_run_drained_is_resumed(cluster: FakeCluster, run: Run) -> None:
    cluster.shell.hosts[HOSTS[FIRST]] = SlurmHost("drained", "hpod reboot by bob")
    run("reboot", "workers-1")
    assert cluster.shell.hosts[HOSTS[FIRST]].state == "idle"


def test_nodes_that_hyperpod_refuses_fail_with_its_reason(cluster: FakeCluster, run: Run) -> None:
    cluster.refuses = {SECOND: "InstanceIdInUse"}
    result = run("replace", "workers")
    assert results(result) == {"workers-1": "ok", "workers-2": "failed"}
    assert "InstanceIdInUse: not now" in str(result)


@pytest.mark.parametrize(
    ("cause", "action", "message"),
    [
        (lambda cluster: setattr(cluster, "refuses", {"all": "no"}), "reboot", "refused: AccessDeniedException: no"),
        (lambda cluster: setattr(cluster, "failure", "no capacity"), "replace", "no new node: no capacity"),
        (lambda cluster: setattr(cluster, "stuck", True), "reboot", "not back after 10 minutes: Running"),
        (lambda cluster: cluster.shell.not_responding.add(HOSTS[FIRST]), "reboot", "slurmd does not respond: drained*"),
        (
            lambda cluster: setattr(cluster.shell, "silent_after_drain", True),
            *("replace", "failed: Slurm does not answer: TargetNotConnected"),
        ),
    ],
)
def test_a_node_that_fails_has_the_reason_and_the_command_to_resume(
    cluster: FakeCluster, run: Run, cause: Callable[[FakeCluster], object], action: str, message: str
) -> None:
    cause(cluster)
    result = run(action, "workers-1")
    assert message in str(result)
    assert "./hpod resume draft workers-1" in str(result)
    assert bool(cluster.requests) == ("Slurm does not answer" not in message)


@pytest.mark.parametrize("action", ["replace", "reboot"])
def test_credentials_that_expire_during_the_wait_keep_the_result(cluster: FakeCluster, run: Run, action: str) -> None:
    cluster.expires_after = action
    result = run(action, "workers-1")
    assert results(result) == {"workers-1": "failed"}
    assert "(ExpiredToken)" in str(result)
    assert "run `aws sso login`" in str(result)
    assert "./hpod resume draft workers-1" in str(result)


def test_the_next_command_has_the_words_of_the_operator(cluster: FakeCluster, run: Run, shown: list[Block]) -> None:
    for _ in range(28):
        cluster.join("workers")
    cluster.refuses = {"all": "no"}
    result = run("reboot", "workers")
    assert "to try again: `./hpod reboot draft workers`\n" in f"{result}\n"
    assert max(len(str(line)) for line in (*shown, *str(result).splitlines())) < 205
    assert re.search(r"./hpod resume draft( \S+){10}` \(the first 10 of 25 nodes\)$", "\n".join(map(str, shown)), re.MULTILINE)


def test_batches_have_25_nodes_and_the_first_failure_stops(cluster: FakeCluster, run: Run) -> None:
    for _ in range(28):
        cluster.join("workers")
    cluster.refuses = {FIRST: "InternalServerError"}
    result = run("reboot", "workers")
    assert [len(request["NodeIds"]) for _, request in cluster.requests] == [25]
    assert sorted(set(results(result).values())) == ["failed", "not_started", "ok"]
    assert list(results(result).values()).count("not_started") == 5


def test_without_a_controller_the_reason_and_the_option_are_named(cluster: FakeCluster, run: Run) -> None:
    cluster.shell.silent = True
    with pytest.raises(
        CommandError, match=r"cannot reach Slurm: .*TargetNotConnected; pass --no-drain to go on without draining"
    ):
        run("reboot", FIRST)
    cluster.requests.clear()


def test_without_a_shell_a_reboot_is_seen_by_its_status(
    cluster: FakeCluster, run: Run, monkeypatch: pytest.MonkeyPatch, shown: list[Block]
) -> None:
    monkeypatch.setattr("cli.node_directory.missing_plugin", lambda: CommandError("no plugin"))
    options = Options(drain=False, patience=FakeTime().patience())
    result = recover(cluster.deployment(), "reboot", nodes=[FIRST], options=options, show=shown.append)
    assert result.failure == ""
    assert cluster.shell.updates == []


def test_the_only_controller_is_kept_while_jobs_run(cluster: FakeCluster, run: Run, shown: list[Block]) -> None:
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    with pytest.raises(CommandError, match=r"cannot replace the only controller: 1 job running; .* pass --force"):
        run("replace", "controller")
    run("replace", "controller", force=True)
    assert cluster.requests[0][1]["NodeIds"] == [HEAD]
    assert any("ends all running jobs" in str(line) for line in shown)
    assert any("accounting database is deleted" in str(line) for line in shown)


@pytest.mark.parametrize("is_listed", [True, False])
def test_controllers_and_login_nodes_are_not_drained_though_slurm_may_list_them(
    cluster: FakeCluster, run: Run, shown: list[Block], *, is_listed: bool
) -> None:
    cluster.shell.hosts |= {HOSTS[LOGIN]: SlurmHost()} if is_listed else {}
    assert run("reboot", HEAD, LOGIN).failure == ""
    assert cluster.shell.updates == []
    assert "warning: open shells on login nodes end" in shown


def test_controllers_are_last(cluster: FakeCluster, run: Run) -> None:
    assert run("reboot", "controller", "workers", "login").failure == ""
    assert [request["NodeIds"] for _, request in cluster.requests] == [[LOGIN, FIRST, SECOND], [HEAD]]


def test_a_job_that_starts_meanwhile_keeps_the_only_controller(
    cluster: FakeCluster, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(**request: Any) -> dict[str, Any]:
        cluster.shell.hosts[HOSTS[SECOND]].jobs = ["7"]
        return reboot(**request)

    reboot = cluster.batch_reboot_cluster_nodes
    monkeypatch.setattr(cluster, "batch_reboot_cluster_nodes", start)
    result = run("reboot", "controller", "workers-1")
    assert [request["NodeIds"] for _, request in cluster.requests] == [[FIRST]]
    assert results(result) == {"head-1": "failed", "workers-1": "ok"}
    assert "cannot reboot the only controller: 1 job running" in str(result)


@pytest.mark.parametrize("action", ["replace", "reboot"])
def test_a_running_compute_node_that_slurm_does_not_list_is_refused(cluster: FakeCluster, run: Run, action: str) -> None:
    del cluster.shell.hosts[HOSTS[FIRST]]
    with pytest.raises(CommandError, match=r"^unknown to Slurm: workers-1; pass --no-drain to go on$"):
        run(action, "workers")
    assert (cluster.requests, cluster.shell.updates) == ([], [])
    cluster.set_status(FIRST, "Failure")
    cluster.stuck = True
    run(action, "workers")
    assert len(cluster.requests) == 1


def test_each_node_has_a_successor_in_its_group(cluster: FakeCluster, run: Run) -> None:
    result = run("replace", "login", "workers-1")
    assert result.data is not None
    assert {node["group"]: node["new_instance_id"] for node in result.data["nodes"]} == {
        "workers": "i-00000000000000001",
        "entry": "i-00000000000000002",
    }


def test_nodes_with_other_scripts_need_no_precheck_but_have_not_passed_it(
    cluster: FakeCluster, run: Run, shown: list[Block]
) -> None:
    cluster.shell.precheck_is_missing = True
    result = run("reboot", "workers-1")
    assert result.failure == ""
    assert "hyperpod-precheck: 0 of 1 passed, not installed on 1" in shown
    assert "not checked: hyperpod-precheck is not installed" in str(result)


def test_the_answer_no_changes_nothing(cluster: FakeCluster) -> None:
    def no(question: str) -> None:
        raise CommandError(question)

    with pytest.raises(CommandError, match=r"Replace 1 node of draft-1 \(workers-1\)\? HyperPod deletes their disks"):
        recover(cluster.deployment(), "replace", nodes=["workers-1"], options=Options(), confirm=no, shell=cluster.shell)
    assert (cluster.requests, cluster.shell.updates) == ([], [])
