"""Users that leave the cluster file cannot log in any more; their homes stay."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hyperpod_node import accounts
from hyperpod_node.accounts import Account
from hyperpod_node.context import Context
from hyperpod_node.node_settings import User
from hyperpod_node.steps import removed_users, ssh, users
from tests.unit.hyperpod_node.a_node import LUSTRE, a_context, user
from tests.unit.hyperpod_node.fake_system import FakeSystem

ME = os.getuid() or 4001
KEYS = f"own key\n{ssh.BEGIN}\nfrom the file\n{ssh.END}\n"
RECORD = "/var/lib/hyperpod-cdk/users.json"


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    node = FakeSystem(tmp_path)
    node.run = node.accounts.programs()
    return node


def with_users(*names: User) -> Context:
    return a_context(users=names, lustre=LUSTRE)


ALICE = user("alice", ME, sudo=True)


def usermods(node: FakeSystem) -> list[tuple[str, ...]]:
    return node.run.named("usermod")


def test_a_removed_user_is_locked_once_without_sudo_and_keys(node: FakeSystem) -> None:
    users.apply(with_users(ALICE), node.system)
    keys = node.write("/fsx/home/alice/.ssh/authorized_keys", KEYS)
    for _ in range(2):
        users.apply(with_users(), node.system)
    assert usermods(node) == [("--groups", "", "--expiredate", "1", "--shell", "/usr/sbin/nologin", "alice")]
    assert keys.read_text() == f"own key\n{ssh.BEGIN}\n{ssh.END}\n"
    assert "alice" not in node.path(users.SUDOERS).read_text()
    assert json.loads(node.path(RECORD).read_text()) == {"users": [], "locked": ["alice"]}
    assert (node.path("/fsx/home/alice")).is_dir()


def test_a_user_that_returns_is_unlocked(node: FakeSystem) -> None:
    for context in (with_users(ALICE), with_users(), with_users(ALICE), with_users(ALICE)):
        users.apply(context, node.system)
    assert [words[-1] for words in usermods(node)] == ["alice", "alice"]
    assert usermods(node)[1] == ("--expiredate", "", "--shell", "/bin/bash", "alice")
    assert json.loads(node.path(RECORD).read_text()) == {"users": ["alice"], "locked": []}


def test_accounts_that_no_cluster_file_had_are_not_touched(node: FakeSystem) -> None:
    node.accounts.users.append(Account("mallory", 777, 777, Path("/home/mallory")))
    users.apply(with_users(), node.system)
    removed_users.lock([], node.system)
    assert usermods(node) == []


def test_an_account_that_the_node_does_not_have_is_only_forgotten(node: FakeSystem) -> None:
    node.write(RECORD, json.dumps({"users": ["gone"], "locked": []}))
    removed_users.lock([], node.system)
    assert usermods(node) == []
    assert json.loads(node.path(RECORD).read_text()) == {"users": [], "locked": ["gone"]}


def test_a_user_that_moved_to_the_directory_gets_its_account_from_there(node: FakeSystem) -> None:
    users.apply(with_users(ALICE, user("bob", ME + 1)), node.system)
    users.apply(with_users(), node.system)
    node.accounts.directory.append(Account("alice", ME, ME, Path("/fsx/home/alice")))
    removed_users.leave_to_directory(node.system)
    assert node.run.named("userdel") == [("--force", "alice")]
    assert [account.name for account in node.accounts.users] == ["bob"]
    assert json.loads(node.path(RECORD).read_text()) == {"users": [], "locked": ["bob"]}
    assert node.path("/fsx/home/alice").is_dir()


def test_a_user_that_only_the_directory_has_is_not_locked(node: FakeSystem) -> None:
    node.accounts.directory.append(Account("alice", ME, ME, Path("/fsx/home/alice")))
    node.write(RECORD, json.dumps({"users": ["alice"], "locked": []}))
    removed_users.lock([], node.system)
    assert usermods(node) == []


def test_a_local_account_is_in_the_nodes_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "passwd").write_text("root:x:0:0::/root:/bin/bash\nalice:x:1:1::/home/alice:/bin/bash\n")
    monkeypatch.setattr(accounts, "PASSWD", tmp_path / "passwd")
    assert [accounts.ACCOUNTS.is_local(name) for name in ("alice", "ali", "bob")] == [True, False, False]
