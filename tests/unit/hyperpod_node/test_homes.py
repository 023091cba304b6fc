"""A home is made once, whole, by whichever node comes first."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node import homes
from hyperpod_node.accounts import Account
from hyperpod_node.errors import NodeError
from hyperpod_node.system import SYSTEM
from tests.unit.hyperpod_node.a_node import LUSTRE, OPENZFS, a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem

ALICE = Account("alice", os.getuid(), os.getgid(), Path("/home/alice"))


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    node = FakeSystem(tmp_path)
    for at in range(20):
        node.write(f"/etc/skel/.config/file-{at}", "content")
    return node


@pytest.mark.parametrize(
    ("lustre", "openzfs", "folder", "shared"),
    [
        (LUSTRE, None, "/fsx/people", True),
        (None, OPENZFS, "/home", True),
        (LUSTRE, OPENZFS, "/home", True),
        (None, None, "/home", False),
    ],
)
def test_homes_are_where_the_file_systems_say(lustre: str | None, openzfs: str | None, folder: str, shared: bool) -> None:
    context = a_context(lustre=lustre, openzfs=openzfs, homes="/fsx/people")
    assert (str(homes.folder(context)), homes.shared(context.parameters)) == (folder, shared)


@pytest.mark.fault(67)
def test_of_many_nodes_one_makes_the_home_and_none_sees_half_of_it(node: FakeSystem) -> None:
    home, system = node.path("/home/alice"), node.system
    start, made, seen = threading.Barrier(16), list[bool](), list[int]()

    def worker(number: int) -> None:
        start.wait()
        made.append(homes.create(ALICE, node=f"worker-{number}", system=system))
        seen.append(len(list((home / ".config").iterdir())))

    threads = [threading.Thread(target=worker, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made.count(True), len(made)) == (1, 16)
    assert set(seen) == {20}
    assert [path.name for path in home.parent.iterdir()] == ["alice"]


@pytest.mark.fault(66)
def test_what_a_node_left_that_died_in_the_middle_is_no_hindrance(node: FakeSystem) -> None:
    home = node.path("/home/alice")
    (home.parent / ".alice.worker-1" / "half").mkdir(parents=True)
    assert homes.create(ALICE, node="worker-1", system=node.system)
    assert sorted(path.name for path in home.iterdir()) == [".config"]
    assert [path.name for path in home.parent.iterdir()] == ["alice"]


def test_a_node_without_a_skeleton_makes_an_empty_home(tmp_path: Path) -> None:
    node = FakeSystem(tmp_path)
    assert homes.create(ALICE, node="worker-1", system=node.system)
    assert node.path("/home/alice").stat().st_mode & 0o777 == homes.MODE


def test_a_home_that_cannot_be_made_is_named_with_the_reason(node: FakeSystem) -> None:
    node.write("/home", "")
    with pytest.raises(NodeError, match=r"^/home/alice: cannot read its owner: Not a directory"):
        homes.create(ALICE, node="worker-1", system=node.system)
    with pytest.raises(NodeError, match=rf"^/proc/alice: cannot create it for uid {os.getuid()}: "):
        homes.create(replace(ALICE, home=Path("/proc/alice")), node="worker-1", system=SYSTEM)
