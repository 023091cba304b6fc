"""Users go from node to node without a password, by one key that the first node made."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.accounts import Account
from hyperpod_node.errors import NodeError
from hyperpod_node.shell import run
from hyperpod_node.steps import ssh
from hyperpod_node.system import System
from tests.unit.hyperpod_node.a_node import INSTANCES, LUSTRE, a_context, user
from tests.unit.hyperpod_node.fake_accounts import FakeAccounts
from tests.unit.hyperpod_node.fake_system import FakeSystem, as_test_user

LAPTOP = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKx alice@laptop"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home/alice").mkdir(parents=True)
    return tmp_path / "home/alice/.ssh"


def system(tmp_path: Path, as_user: Callable[[Account, Callable[[], None]], None] = as_test_user) -> System:
    accounts = FakeAccounts([Account(name, os.getuid(), os.getgid(), Path("/home", name)) for name in ("alice", "ubuntu")])
    return replace(FakeSystem(tmp_path, accounts=accounts, as_user=as_user).system, run=run)


def keys(folder: Path) -> list[str]:
    return [line for line in (folder / "authorized_keys").read_text().splitlines() if not line.startswith("#")]


def test_the_file_s_keys_and_the_cluster_s_are_allowed(folder: Path) -> None:
    ssh.set_up(folder, (LAPTOP,), "alice@ml", "worker-1", run)
    assert keys(folder) == [LAPTOP, (folder / "id_ed25519.pub").read_text().strip()]
    assert keys(folder)[1].endswith("alice@ml")
    assert {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())} == {
        ".ssh": 0o700,
        "authorized_keys": 0o600,
        "id_ed25519": 0o600,
        "id_ed25519.pub": 0o644,
    }


@pytest.mark.fault(66)
def test_a_second_run_changes_no_file(folder: Path) -> None:
    ssh.set_up(folder, (LAPTOP,), "alice@ml", "worker-1", run)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    ssh.set_up(folder, (LAPTOP,), "alice@ml", "worker-2", run)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.fault(67)
def test_nodes_that_come_at_once_agree_on_one_key(folder: Path) -> None:
    start, failed = threading.Barrier(8), list[Exception]()

    def node(number: int) -> None:
        start.wait()
        try:
            ssh.set_up(folder, (), "alice@ml", f"worker-{number}", run)
        except Exception as error:  # noqa: BLE001 - a thread's error would be lost
            failed.append(error)

    threads = [threading.Thread(target=node, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(keys(folder)) == 1
    private = run("ssh-keygen", "-y", "-f", str(folder / "id_ed25519")).split()[:2]
    assert keys(folder)[0].split()[:2] == private
    assert sorted(path.name for path in folder.iterdir()) == ["authorized_keys", "id_ed25519", "id_ed25519.pub"]


def test_a_user_s_own_lines_stay_where_they_are() -> None:
    own = "ssh-rsa AAAA mine"
    once = ssh.with_block(own, ["one"])
    assert once.splitlines() == [own, ssh.BEGIN, "one", ssh.END]
    later = ssh.with_block(f"{once}ssh-rsa BBBB also mine\n", ["two"])
    assert later.splitlines() == [own, ssh.BEGIN, "two", ssh.END, "ssh-rsa BBBB also mine"]


def test_a_block_without_its_end_loses_no_key() -> None:
    assert ssh.with_block(f"{ssh.BEGIN}\none\nmine\n", ["two"]).splitlines() == [ssh.BEGIN, "two", ssh.END, "one", "mine"]


def test_a_key_that_left_the_cluster_file_is_no_longer_allowed(folder: Path) -> None:
    ssh.set_up(folder, (LAPTOP,), None, "worker-1", run)
    ssh.set_up(folder, (), None, "worker-1", run)
    assert keys(folder) == []


def test_a_user_s_own_key_of_that_name_is_used_and_not_replaced(folder: Path) -> None:
    folder.mkdir()
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "mine", "-f", str(folder / "id_ed25519"))
    before = (folder / "id_ed25519").read_bytes()
    ssh.set_up(folder, (), "alice@ml", "worker-1", run)
    assert (folder / "id_ed25519").read_bytes() == before
    assert keys(folder)[0].endswith("mine")


def test_on_shared_homes_the_ami_s_own_user_can_go_from_node_to_node_too(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "home/ubuntu").mkdir()
    ssh.apply(a_context(users=(user(keys=(LAPTOP,)),), lustre=LUSTRE), system(tmp_path))
    assert keys(tmp_path / "home/ubuntu/.ssh")[0].endswith("ubuntu@ml-cluster")
    assert keys(folder)[0] == LAPTOP


@pytest.mark.fault(73)
def test_on_a_node_s_own_disk_only_the_file_s_keys_are_allowed(tmp_path: Path, folder: Path) -> None:
    ssh.apply(a_context(users=(user(keys=(LAPTOP,)),)), system(tmp_path))
    assert keys(folder) == [LAPTOP]
    assert not (folder / "id_ed25519").exists()
    assert not (tmp_path / "home/ubuntu/.ssh").exists()


def test_what_one_user_did_to_a_home_ends_no_node(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "home/ubuntu").mkdir()

    def refuse_alice(account: Account, work: Callable[[], None]) -> None:
        if account.name == "alice":
            raise NodeError("/fsx/home/alice/.ssh: Not a directory")
        work()

    ssh.apply(a_context(users=(user(),), lustre=LUSTRE), system(tmp_path, refuse_alice))
    assert capsys.readouterr().out == "warning: no ssh between nodes for alice: /fsx/home/alice/.ssh: Not a directory\n"
    assert len(keys(tmp_path / "home/ubuntu/.ssh")) == 1


def test_a_line_that_is_not_utf_8_stays_as_it_is(folder: Path) -> None:
    folder.mkdir()
    (folder / "authorized_keys").write_bytes(b"ssh-rsa AAAA m\xfcller\n")
    ssh.set_up(folder, (LAPTOP,), None, "worker-1", run)
    assert (folder / "authorized_keys").read_bytes().splitlines()[0] == b"ssh-rsa AAAA m\xfcller"


def test_a_pipe_in_the_place_of_the_keys_makes_no_node_wait(folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / "authorized_keys")
    with pytest.raises(NodeError, match="authorized_keys is not a regular file"):
        ssh.set_up(folder, (LAPTOP,), None, "worker-1", run)


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("ip-10-1-200-3", True),
        ("ip-10-1-200-3.us-west-2.compute.internal", True),
        ("10.1.0.9", True),
        ("ip-10-11-0-9", False),
        ("10.10.1.9", False),
        ("example.org", False),
    ],
)
@pytest.mark.fault(67)
def test_host_keys_are_trusted_only_in_the_clusters_network(tmp_path: Path, host: str, known: bool) -> None:
    file = tmp_path / "ssh_config"
    file.write_text(ssh.client_settings(instance.address for instance in INSTANCES))
    shown = subprocess.run(["ssh", "-G", "-F", file, host], capture_output=True, text=True, check=True).stdout.splitlines()
    assert ("stricthostkeychecking accept-new" in shown) is known
    assert ("userknownhostsfile /dev/null" in shown) is known


def test_the_client_settings_do_not_grow_with_the_cluster() -> None:
    many = [f"10.1.{at // 250}.{at % 250}" for at in range(1000)]
    assert ssh.client_settings(many) == ssh.client_settings(many[:1])
