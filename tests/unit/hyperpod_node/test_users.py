"""The cluster file's accounts are on each node with their ids, or nothing was touched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from hyperpod_node.accounts import Account, NodeGroup
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import Group, User
from hyperpod_node.steps import users
from tests.unit.hyperpod_node.a_node import LUSTRE, OPENZFS, a_context, user
from tests.unit.hyperpod_node.fake_system import FakeSystem

ME = os.getuid() or 4001  # root may give files away, anybody else can make homes for themselves alone
RESEARCH = Group("research", 5000)
HOMES = Path("/fsx/home")


@dataclass
class Machine(FakeSystem):
    def __post_init__(self) -> None:
        self.run = self.accounts.programs()
        self.write("/etc/skel/.bashrc", "# a shell\n")

    @property
    def homes(self) -> Path:
        return self.path(HOMES)

    @property
    def sudoers(self) -> Path:
        return self.path(users.SUDOERS)

    def apply(self, context: Context) -> None:
        users.apply(context, self.system)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def alice(*, groups: tuple[str, ...] = (), sudo: bool = False, uid: int = ME) -> User:
    return user("alice", uid, groups=groups, sudo=sudo)


def test_a_user_has_the_file_s_uid_a_group_of_its_own_and_a_home(machine: Machine) -> None:
    machine.apply(a_context(groups=(RESEARCH,), users=(alice(groups=("research",)),), lustre=LUSTRE))
    assert machine.accounts.users == [Account("alice", ME, ME, HOMES / "alice")]
    assert machine.accounts.groups == [NodeGroup("research", 5000, ("alice",)), NodeGroup("alice", ME, ())]
    home = machine.homes / "alice"
    assert (home.stat().st_uid, home.stat().st_mode & 0o777) == (ME, 0o750)
    assert (home / ".bashrc").stat().st_uid == ME


@pytest.mark.fault(66)
def test_a_second_run_starts_no_program(machine: Machine) -> None:
    context = a_context(groups=(RESEARCH,), users=(alice(groups=("research",), sudo=True),), lustre=LUSTRE)
    machine.apply(context)
    first = len(machine.run.commands)
    machine.apply(context)
    assert machine.run.commands[first:] == []


@pytest.mark.fault(67)
def test_a_replaced_node_finds_the_home_and_leaves_what_is_in_it(machine: Machine, tmp_path: Path) -> None:
    context = a_context(users=(alice(),), lustre=LUSTRE)
    machine.apply(context)
    (machine.homes / "alice" / "results").write_text("42")
    (machine.homes / "alice" / ".bashrc").write_text("# mine\n")
    machine.accounts.users, machine.accounts.groups = [], []
    machine.apply(context)
    assert machine.accounts.users == [Account("alice", ME, ME, HOMES / "alice")]
    assert (machine.homes / "alice" / "results").read_text() == "42"
    assert (machine.homes / "alice" / ".bashrc").read_text() == "# mine\n"


@pytest.mark.fault(73)
def test_without_a_file_system_one_line_says_where_homes_are(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.apply(a_context(users=(alice(),)))
    assert capsys.readouterr().out == "homes stay in /home on this node's own disk: the cluster file has no file system\n"


TWO = (user("alice", 4001), user("bob", 4001))
CONFLICTS = {
    "2 users in the cluster file have uid 4001": (TWO, (), (), ()),
    "2 users in the cluster file have name alice": ((user("alice", 4001), user("alice", 4002)), (), (), ()),
    "2 groups in the cluster file have gid 5000": ((), (RESEARCH, Group("other", 5000)), (), ()),
    r"2 groups in the cluster file have gid 5000 \(each user has a group": ((user("alice", 5000),), (RESEARCH,), (), ()),
    r"2 groups in the cluster file have name alice \(each user": ((user("alice", 4001),), (Group("alice", 9),), (), ()),
    "user alice has uid 1234 and gid 4001 on this node and 4001 in": (
        (user(),),
        (),
        (Account("alice", 1234, 4001, Path("/h")),),
        (),
    ),
    "user alice has uid 4001 and gid 100 on this node and 4001 in": (
        (user(),),
        (),
        (Account("alice", 4001, 100, Path("/h")),),
        (),
    ),
    "uid 4001 of user alice belongs to user carol on this node": ((user(),), (), (Account("carol", 4001, 4001, Path("/h")),), ()),
    "group research has gid 77 on this node and 5000 in": ((), (RESEARCH,), (), (NodeGroup("research", 77, ()),)),
    "gid 5000 of group research belongs to group docker on this node": ((), (RESEARCH,), (), (NodeGroup("docker", 5000, ()),)),
    "group docker of user alice is neither in the cluster file nor on this node": ((user(groups=("docker",)),), (), (), ()),
}


@pytest.mark.fault(68)
@pytest.mark.parametrize(("message", "given"), CONFLICTS.items(), ids=CONFLICTS)
def test_a_conflict_is_reported_before_any_change(
    machine: Machine,
    message: str,
    given: tuple[tuple[User, ...], tuple[Group, ...], tuple[Account, ...], tuple[NodeGroup, ...]],
) -> None:
    file_users, file_groups, there, groups_there = given
    machine.accounts.users, machine.accounts.groups = list(there), list(groups_there)
    first = user("aaron", 4000)
    with pytest.raises(NodeError, match=rf"^no account was changed: .*{message}"):
        machine.apply(a_context(users=(first, *file_users), groups=file_groups, lustre=LUSTRE))
    assert machine.run.commands == []
    assert not machine.homes.exists()
    assert not machine.sudoers.exists()


@pytest.mark.fault(68)
def test_another_users_home_is_reported_and_keeps_its_owner(machine: Machine) -> None:
    (machine.homes / "alice").mkdir(parents=True)
    owner = os.getuid()
    with pytest.raises(NodeError, match=rf"/fsx/home/alice belongs to uid {owner}, and alice has 4567 in the cluster file"):
        machine.apply(a_context(users=(alice(uid=4567),), lustre=LUSTRE))
    assert machine.run.commands == []
    assert (machine.homes / "alice").stat().st_uid == owner


@pytest.mark.fault(68)
def test_all_conflicts_are_reported_at_once(machine: Machine) -> None:
    machine.accounts.users = [Account("ubuntu", 1000, 1000, Path("/home/ubuntu"))]
    with pytest.raises(NodeError) as caught:
        machine.apply(a_context(users=(user("alice", 1000), user("bob", 1000))))
    assert "2 users" in str(caught.value)
    assert str(caught.value).count("belongs to user ubuntu") == 2


def test_who_left_a_group_of_the_file_leaves_it_on_the_node_and_stays_in_the_ami_s(machine: Machine) -> None:
    machine.accounts.groups = [NodeGroup("docker", 120, ())]
    machine.apply(a_context(groups=(RESEARCH,), users=(alice(groups=("research", "docker")),)))
    machine.apply(a_context(groups=(RESEARCH,), users=(alice(),)))
    assert {group.name: group.members for group in machine.accounts.groups} == {
        "docker": ("alice",),
        "research": (),
        "alice": (),
    }


def test_root_s_rights_are_given_by_one_checked_file_and_taken_by_the_same(machine: Machine) -> None:
    machine.apply(a_context(users=(alice(sudo=True),)))
    assert machine.sudoers.read_text().splitlines()[1:] == ["alice ALL=(ALL) NOPASSWD:ALL"]
    assert machine.sudoers.stat().st_mode & 0o777 == 0o440
    assert (
        machine.run.inputs[machine.run.commands.index(("visudo", "--check", "--quiet", "--file=-"))]
        == machine.sudoers.read_text()
    )
    machine.apply(a_context(users=(alice(),)))
    assert machine.sudoers.read_text().splitlines()[1:] == []


def test_a_rule_that_sudo_would_not_read_is_not_put_in_place(machine: Machine) -> None:
    machine.answers("visudo", NodeError("syntax error"))
    with pytest.raises(NodeError, match="syntax error"):
        machine.apply(a_context(users=(alice(sudo=True),)))
    assert not machine.sudoers.exists()


@pytest.mark.parametrize(("lustre", "openzfs", "homes"), [(LUSTRE, None, "/fsx/home"), (None, OPENZFS, "/home")])
def test_the_ami_s_own_user_moves_to_the_shared_homes(
    machine: Machine, lustre: str | None, openzfs: str | None, homes: str
) -> None:
    machine.accounts.users = [Account("ubuntu", ME, ME, Path("/home/ubuntu"))]
    machine.apply(a_context(lustre=lustre, openzfs=openzfs))
    assert machine.accounts.users == [Account("ubuntu", ME, ME, Path(homes, "ubuntu"))]
    assert machine.path(f"{homes}/ubuntu").is_dir()


def test_the_ami_s_own_user_who_is_logged_in_is_no_reason_to_lose_the_node(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.accounts.users = [Account("ubuntu", ME, ME, Path("/home/ubuntu"))]
    machine.answers("usermod", NodeError("user ubuntu is currently used by process 42"))
    machine.apply(a_context(lustre=LUSTRE))
    assert capsys.readouterr().out == "warning: ubuntu's home stays /home/ubuntu: user ubuntu is currently used by process 42\n"
