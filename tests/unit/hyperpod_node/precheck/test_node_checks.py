"""Slurm's daemon, /fsx and the users' homes."""

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import checks, file_systems
from hyperpod_node.precheck.check_result import CheckResult
from hyperpod_node.precheck.checked_node import CheckedNode
from hyperpod_node.system import System

from .conftest import FSX, WITHOUT_FSX, Make, captured

ADA = "ada:x:2001:2001::/fsx/home/ada:/bin/bash\n"


ACTIVE, NOT_FOUND = captured("systemctl-show-slurmd-active.txt"), captured("systemctl-show-not-found.txt")
SHOW_NODE = "scontrol --oneliner show node"


@pytest.mark.parametrize(
    ("check", "node"),
    [
        (checks.slurm_daemon, {"facts": {"role": "login"}}),
        (file_systems.fsx, {"facts": {"file_system": False}}),
        (file_systems.user_homes, {"facts": {"homes": None}}),
        (file_systems.user_homes, {"mounts": WITHOUT_FSX, "answers": {"getent": ADA}}),
    ],
    ids=["a login node has no daemon", "no file system", "local homes", "homes on a file system that is not mounted"],
)
def test_a_check_that_does_not_concern_the_node_is_skipped(
    make_node: Make, check: Callable[[CheckedNode], CheckResult], node: dict[str, Any]
) -> None:
    assert check(make_node(**node)).state == "SKIP"


@pytest.mark.parametrize(
    ("check", "node", "message", "fix"),
    [
        (checks.slurm_daemon, {"answers": {"systemctl": NOT_FOUND}}, "slurmd is not-found", "journalctl -u slurmd"),
        (file_systems.fsx, {"mounts": WITHOUT_FSX}, "/fsx is not mounted", "988"),
        (
            file_systems.user_homes,
            {"facts": {"homes": "/home"}, "answers": {"getent": ADA.replace("/fsx", "")}},
            "/home is not mounted",
            "",
        ),
    ],
)
def test_what_a_node_lacks_is_reported_with_where_to_look(
    make_node: Make, check: Callable[[CheckedNode], CheckResult], node: dict[str, Any], message: str, fix: str
) -> None:
    result = check(make_node(**node))
    assert (result.state, result.message) == ("FAIL", message)
    assert fix in result.fix


@pytest.mark.parametrize(
    ("role", "daemon", "found"),
    [
        ("compute", "slurmd", "slurmd is active, and slurmctld knows this node"),
        ("controller", "slurmctld", "slurmctld is active"),
    ],
)
def test_a_node_is_asked_for_the_daemon_of_its_role(make_node: Make, role: str, daemon: str, found: str) -> None:
    answers = {
        f"systemctl show -p LoadState,ActiveState,Result {daemon}": ACTIVE,
        "systemctl": NOT_FOUND,
        SHOW_NODE: "NodeName=n1 State=IDLE SlurmdStartTime=2026-01-01T00:00:00",
    }
    node = make_node(facts={"role": role}, answers=answers, files={"run/slurm/conf/slurm.conf": ""})
    assert checks.slurm_daemon(node).message == found


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("NodeName=n1 State=UNKNOWN SlurmdStartTime=None", "its state is UNKNOWN"),
        (NodeError(f"`scontrol` ended with status 1: Node {socket.gethostname().split('.')[0]} not found"), "has no line for"),
    ],
)
def test_a_worker_that_slurmctld_does_not_know_is_not_fit(make_node: Make, answer: str | NodeError, why: str) -> None:
    answers = {"systemctl": ACTIVE, SHOW_NODE: answer}
    result = checks.slurm_daemon(make_node(answers=answers, files={"run/slurm/conf/slurm.conf": ""}))
    assert result.state == "FAIL"
    assert why in result.message
    assert "minutes after it is InService" in result.fix


def test_fsx_is_written_to_and_left_as_it_was(make_node: Make) -> None:
    node = make_node(mounts=WITHOUT_FSX + FSX)
    (node.system.root / "fsx").mkdir()
    result = file_systems.fsx(replace(node, system=System(root=node.system.root)))
    assert (result.state, result.message) == ("PASS", "10.1.0.9@tcp:/abcdefgh (lustre), writable")
    assert list((node.system.root / "fsx").iterdir()) == []


def test_fsx_that_is_mounted_and_dead_fails(make_node: Make) -> None:
    node = make_node(answers={"dd": NodeError("`dd` did not end within 20 s")})
    (node.system.root / "fsx").mkdir()
    result = file_systems.fsx(node)
    assert (result.state, "did not end within 20 s" in result.message) == ("FAIL", True)


def test_a_user_who_owns_nothing_below_fsx_does_not_make_it_fail(make_node: Make) -> None:
    result = file_systems.fsx(make_node())  # there is no folder at all that could be written
    assert (result.state, "write test skipped" in result.message) == ("PASS", True)


def test_homes_on_the_shared_file_system_pass(make_node: Make) -> None:
    node = make_node(answers={"getent passwd ada": ADA})
    (node.system.root / "fsx/home/ada").mkdir(parents=True)
    assert file_systems.user_homes(node).state == "PASS"


@pytest.mark.parametrize(
    ("entry", "found", "fix"),
    [
        (ADA, "ada's home /fsx/home/ada does not exist", "install -d -m 700 -o ada -g 2001 /fsx/home/ada"),
        (ADA.replace("/fsx", ""), "ada's home /home/ada is not shared", "usermod -d /fsx/home/ada ada"),
        (NodeError("status 2"), "ada does not exist", "lifecycle scripts"),
    ],
)
def test_a_wrong_home_is_reported_with_its_fix(make_node: Make, entry: str | NodeError, found: str, fix: str) -> None:
    result = file_systems.user_homes(make_node(answers={"getent": entry}))
    assert (result.state, result.message) == ("FAIL", found)
    assert fix in result.fix


@pytest.mark.parametrize("fsx", [FSX, ""])
def test_homes_on_openzfs_are_shared_as_well(make_node: Make, fsx: str) -> None:
    zfs = "fs-1.fsx.us-west-2.amazonaws.com:/fsx /home nfs4 rw 0 0\n"
    answers: dict[str, str | NodeError] = {"getent": ADA.replace("/fsx", "")}
    node = make_node(mounts=WITHOUT_FSX + fsx + zfs, answers=answers, facts={"homes": "/home", "file_system": bool(fsx)})
    (node.system.root / "home/ada").mkdir(parents=True)
    assert file_systems.user_homes(node).state == "PASS"


def test_a_home_belongs_in_the_folder_of_the_cluster_file(make_node: Make) -> None:
    answers: dict[str, str | NodeError] = {"getent passwd ada": ADA.replace("/fsx", "")}
    assert file_systems.user_homes(make_node(facts={"homes": "/fsx"}, answers=answers)).fix == "sudo usermod -d /fsx/ada ada"


def test_only_a_check_that_cannot_run_fails(make_node: Make) -> None:
    results = checks.run_all(make_node())  # no program answers
    assert results["slurm daemon"].state == "FAIL"
    assert results["docker"].state == "SKIP"
    assert not checks.healthy(results)


def test_a_check_that_is_required_must_not_be_skipped(make_node: Make) -> None:
    results = checks.run_all(make_node(), required=["docker"])
    assert (results["docker"].state, results["pyxis"].state) == ("FAIL", "SKIP")
    assert "not installed" in results["docker"].message


def test_what_a_user_may_not_read_is_an_error_that_names_the_file(make_node: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError

    node = make_node()
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(NodeError, match=r"cannot read /etc/docker/daemon\.json"):
        node.text("/etc/docker/daemon.json")
