"""The first login of a directory's user: home, key, Slurm account; each without the others."""

from __future__ import annotations

import os
import syslog
from pathlib import Path

import pytest

from hyperpod_node import login
from hyperpod_node.accounts import Account
from hyperpod_node.errors import NodeError
from tests.unit.hyperpod_node.fake_system import FakeSystem

ME = os.getuid() or 4001
OPTIONS = ("--cluster", "ml", "--node", "login-1", "--slurm")
SESSION = {"PAM_TYPE": "open_session", "PAM_USER": "alice"}
CONFIG = "Configuration data as of 2026\nClusterName             = ml-1\nOther = x\n"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(syslog, "syslog", lambda _, line: lines.append(line))
    return lines


@pytest.fixture
def machine(tmp_path: Path) -> FakeSystem:
    node = FakeSystem(tmp_path)
    node.accounts.users = [Account("alice", ME, ME, Path("/fsx/home/alice")), Account("a,b", ME, ME, Path("/fsx/home/a"))]
    node.answers("scontrol", CONFIG)
    node.answers("sacctmgr", "")
    return node


def test_a_user_gets_a_home_and_an_account_in_this_cluster(machine: FakeSystem, logged: list[str]) -> None:
    assert login.main(OPTIONS, SESSION, machine.system) == 0
    assert machine.path("/fsx/home/alice").stat().st_mode & 0o777 == 0o700
    adding = ("--immediate", "add", "user", "alice", "account=default", "cluster=ml-1")
    assert machine.run.named("sacctmgr")[-1] == adding
    assert logged == []


def test_a_home_of_another_id_is_reported(machine: FakeSystem, logged: list[str]) -> None:
    login.main(OPTIONS, SESSION, machine.system)
    machine.accounts.users = [Account("alice", ME + 1, ME, Path("/fsx/home/alice"))]
    login.main(OPTIONS, SESSION, machine.system)
    assert logged == [f"alice: /fsx/home/alice belongs to uid {ME}, but the directory has uid {ME + 1}"]


def test_a_user_with_an_account_keeps_it(machine: FakeSystem) -> None:
    machine.answers("sacctmgr", "alice\n")
    login.main(OPTIONS, SESSION, machine.system)
    assert [words[2] for words in machine.run.named("sacctmgr")] == ["show"]


def test_a_session_that_ends_changes_nothing(machine: FakeSystem) -> None:
    assert login.main(OPTIONS, SESSION | {"PAM_TYPE": "close_session"}, machine.system) == 0
    assert machine.run.commands == []
    assert not machine.path("/fsx/home/alice").exists()


def test_with_shared_homes_a_key_lets_the_user_go_from_node_to_node(machine: FakeSystem) -> None:
    def keygen(arguments: tuple[str, ...], _: str | None) -> str:
        file = Path(arguments[-1])
        if "-y" in arguments:
            return "ssh-ed25519 AAAA alice@ml\n"
        file.write_text("private")
        file.with_name(f"{file.name}.pub").write_text("public")
        return ""

    machine.answers("ssh-keygen", keygen)
    login.main((*OPTIONS, "--shared-homes"), SESSION, machine.system)
    keys = machine.path("/fsx/home/alice/.ssh/authorized_keys")
    assert "ssh-ed25519 AAAA alice@ml\n" in keys.read_text()


def test_without_slurmdbd_the_user_comes_in_and_the_journal_says_what_is_missing(machine: FakeSystem, logged: list[str]) -> None:
    def refused(*_: object) -> str:
        raise NodeError("sacctmgr: Connection refused")

    machine.answers("sacctmgr", refused)
    assert login.main(OPTIONS, SESSION, machine.system) == 0
    assert machine.path("/fsx/home/alice").is_dir()
    assert logged == ["alice: sacctmgr: Connection refused"]


def test_a_name_that_sacctmgr_would_split_is_not_passed_to_it(machine: FakeSystem, logged: list[str]) -> None:
    login.main(OPTIONS, SESSION | {"PAM_USER": "a,b"}, machine.system)
    assert machine.run.named("sacctmgr") == []
    assert "characters that sacctmgr does not accept" in logged[0]
