"""Slurm's daemon, /fsx and the users' homes."""

import socket
from pathlib import Path

import pytest
from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import checks, fsx, slurm_daemon, user_homes
from hyperpod_node.shell import run

from .conftest import FSX, WITHOUT_FSX, Make, captured

ADA = "ada:x:2001:2001::/fsx/home/ada:/bin/bash\n"


ACTIVE = captured("systemctl-show-slurmd-active.txt")
SHOW_NODE = "scontrol --oneliner show node"


@pytest.mark.parametrize(
    ("role", "daemon", "found"),
    [
        ("compute", "slurmd", "slurmd is active, and slurmctld knows this node"),
        ("controller", "slurmctld", "slurmctld is active"),
    ],
)
def test_a_node_is_asked_for_the_daemon_of_its_role(machine: Make, role: str, daemon: str, found: str) -> None:
    answers = {
        f"systemctl show -p LoadState,ActiveState,Result {daemon}": ACTIVE,
        "systemctl": captured("systemctl-show-not-found.txt"),
        SHOW_NODE: "NodeName=n1 State=IDLE SlurmdStartTime=2026-01-01T00:00:00",
    }
    node = machine(facts={"role": role}, answers=answers, files={"run/slurm/conf/slurm.conf": ""})
    assert slurm_daemon.check(node).found == found


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("NodeName=n1 State=UNKNOWN SlurmdStartTime=None", "its state is UNKNOWN"),
        (NodeError(f"`scontrol` ended with status 1: Node {socket.gethostname().split('.')[0]} not found"), "has no line for"),
    ],
)
def test_a_worker_that_slurmctld_does_not_know_is_not_fit(machine: Make, answer: str | NodeError, why: str) -> None:
    answers = {"systemctl": ACTIVE, SHOW_NODE: answer}
    result = slurm_daemon.check(machine(answers=answers, files={"run/slurm/conf/slurm.conf": ""}))
    assert result.state == "FAIL"
    assert why in result.found
    assert "minutes after it is InService" in result.remedy


def test_a_login_node_has_no_daemon(machine: Make) -> None:
    assert slurm_daemon.check(machine(facts={"role": "login"})).state == "SKIP"


def test_a_daemon_that_is_not_there_is_said_so(machine: Make) -> None:
    result = slurm_daemon.check(machine(answers={"systemctl": captured("systemctl-show-not-found.txt")}))
    assert (result.state, result.found) == ("FAIL", "slurmd is not-found")
    assert "journalctl -u slurmd" in result.remedy


def test_no_file_system_is_no_failure_where_none_is_configured(machine: Make) -> None:
    assert fsx.check(machine(facts={"file_system": False})).state == "SKIP"


def test_fsx_that_is_not_mounted_is_told_with_the_ports_to_look_at(machine: Make) -> None:
    result = fsx.check(machine(mounts=WITHOUT_FSX))
    assert (result.state, result.found) == ("FAIL", "/fsx is not mounted")
    assert "988" in result.remedy


def test_fsx_is_written_to_and_left_as_it_was(machine: Make) -> None:
    node = machine(mounts=WITHOUT_FSX + FSX)
    (node.root / "fsx").mkdir()
    result = fsx.check(type(node)(node.facts, run, node.root))
    assert (result.state, result.found) == ("PASS", "10.1.0.9@tcp:/abcdefgh (lustre), written to")
    assert list((node.root / "fsx").iterdir()) == []


def test_fsx_that_is_mounted_and_dead_fails(machine: Make) -> None:
    node = machine(answers={"dd": NodeError("`dd` did not end within 20 s")})
    (node.root / "fsx").mkdir()
    result = fsx.check(node)
    assert (result.state, "did not end within 20 s" in result.found) == ("FAIL", True)


def test_a_user_who_owns_nothing_below_fsx_does_not_make_it_fail(machine: Make) -> None:
    result = fsx.check(machine())  # there is no folder at all that could be written
    assert (result.state, "not written to" in result.found) == ("PASS", True)


def test_homes_on_the_shared_file_system_pass(machine: Make) -> None:
    node = machine(answers={"getent passwd ada": ADA})
    (node.root / "fsx/home/ada").mkdir(parents=True)
    assert user_homes.check(node).state == "PASS"


@pytest.mark.parametrize(
    ("entry", "found", "remedy"),
    [
        (ADA, "ada's home /fsx/home/ada does not exist", "install -d -m 700 -o ada -g 2001 /fsx/home/ada"),
        (ADA.replace("/fsx", ""), "ada's home /home/ada is not shared", "usermod -d /fsx/home/ada ada"),
        (NodeError("status 2"), "ada does not exist", "lifecycle scripts"),
    ],
)
def test_a_users_home_that_is_wrong_is_told_with_what_mends_it(
    machine: Make, entry: str | NodeError, found: str, remedy: str
) -> None:
    result = user_homes.check(machine(answers={"getent": entry}))
    assert (result.state, result.found) == ("FAIL", found)
    assert remedy in result.remedy


def test_homes_are_not_blamed_for_a_missing_file_system(machine: Make) -> None:
    assert user_homes.check(machine(mounts=WITHOUT_FSX, answers={"getent": ADA})).state == "SKIP"


def test_homes_on_openzfs_are_shared_as_well(machine: Make) -> None:
    zfs = "fs-1.fsx.us-west-2.amazonaws.com:/fsx /home nfs4 rw 0 0\n"
    node = machine(mounts=WITHOUT_FSX + FSX + zfs, answers={"getent": ADA.replace("/fsx", "")})
    (node.root / "home/ada").mkdir(parents=True)
    assert user_homes.check(node).state == "PASS"


def test_a_check_that_cannot_be_made_fails_alone(machine: Make) -> None:
    results = checks.make(machine())  # no program answers
    assert results["slurm daemon"].state == "FAIL"
    assert results["docker"].state == "SKIP"
    assert not checks.fit(results)


def test_a_check_that_is_required_must_not_be_skipped(machine: Make) -> None:
    results = checks.make(machine(), required=["docker"])
    assert (results["docker"].state, results["pyxis"].state) == ("FAIL", "SKIP")
    assert "not installed" in results["docker"].found


def test_what_a_user_may_not_read_is_an_error_that_names_the_file(machine: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError

    node = machine()
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(NodeError, match=r"/etc/docker/daemon\.json may not be read"):
        node.text("/etc/docker/daemon.json")
