"""A home is made once, whole, by whichever node comes first."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hyperpod_node import homes
from hyperpod_node.accounts import Account
from hyperpod_node.errors import NodeError

from tests.unit.hyperpod_node.a_node import LUSTRE, OPENZFS, a_context


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    folder = tmp_path / "skel"
    (folder / ".config").mkdir(parents=True)
    for at in range(20):
        (folder / ".config" / f"file-{at}").write_text("content")
    return folder


def me(home: Path) -> Account:
    return Account("alice", os.getuid(), os.getgid(), home)


@pytest.mark.parametrize(
    ("lustre", "openzfs", "folder", "shared"),
    [
        (LUSTRE, None, "/fsx/home", True),
        (None, OPENZFS, "/home", True),
        (LUSTRE, OPENZFS, "/home", True),
        (None, None, "/home", False),
    ],
)
def test_homes_are_where_the_file_systems_say(lustre: str | None, openzfs: str | None, folder: str, shared: bool) -> None:
    parameters = a_context(lustre=lustre, openzfs=openzfs).parameters
    assert (str(homes.folder(parameters)), homes.shared(parameters)) == (folder, shared)


@pytest.mark.fault(67)
def test_of_many_nodes_one_makes_the_home_and_none_sees_half_of_it(tmp_path: Path, skeleton: Path) -> None:
    account = me(tmp_path / "home" / "alice")
    start, made, seen = threading.Barrier(16), list[bool](), list[int]()

    def node(number: int) -> None:
        start.wait()
        made.append(homes.create(account, node=f"worker-{number}", skeleton=skeleton))
        seen.append(len(list((account.home / ".config").iterdir())))

    threads = [threading.Thread(target=node, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made.count(True), len(made)) == (1, 16)
    assert set(seen) == {20}
    assert [path.name for path in account.home.parent.iterdir()] == ["alice"]


@pytest.mark.fault(66)
def test_what_a_node_left_that_died_in_the_middle_is_no_hindrance(tmp_path: Path, skeleton: Path) -> None:
    account = me(tmp_path / "home" / "alice")
    (tmp_path / "home" / ".alice.worker-1" / "half").mkdir(parents=True)
    assert homes.create(account, node="worker-1", skeleton=skeleton)
    assert sorted(path.name for path in account.home.iterdir()) == [".config"]
    assert [path.name for path in account.home.parent.iterdir()] == ["alice"]


def test_a_node_without_a_skeleton_makes_an_empty_home(tmp_path: Path) -> None:
    account = me(tmp_path / "alice")
    assert homes.create(account, node="worker-1", skeleton=tmp_path / "none")
    assert account.home.stat().st_mode & 0o777 == homes.MODE


def test_a_home_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path, skeleton: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NodeError, match=rf"{tmp_path}/file/alice cannot be looked at: Not a directory"):
        homes.create(me(tmp_path / "file" / "alice"), node="worker-1", skeleton=skeleton)
    with pytest.raises(NodeError, match=rf"/proc/alice cannot be made for uid {os.getuid()}: "):
        homes.create(me(Path("/proc/alice")), node="worker-1", skeleton=skeleton)
