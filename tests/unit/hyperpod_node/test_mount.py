"""Network file systems are mounted once, within a bound, and are believed only when they can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_node import mount, write_probe
from hyperpod_node.errors import NodeError
from tests.unit.hyperpod_node.mounting_machine import OTHER_MOUNTS, MountingMachine


@pytest.fixture
def machine(tmp_path: Path) -> MountingMachine:
    return MountingMachine(tmp_path)


@pytest.mark.fault(66)
def test_a_second_run_mounts_nothing_and_writes_no_second_line(machine: MountingMachine) -> None:
    machine.fstab.write_text("# the AMI's\nLABEL=cloudimg-rootfs / ext4 discard 0 1\n")
    machine.apply()
    first = machine.fstab.read_text()
    machine.apply()
    assert len(machine.starts) == 1
    assert (
        machine.fstab.read_text()
        == first
        == (f"# the AMI's\nLABEL=cloudimg-rootfs / ext4 discard 0 1\nfs-1@tcp:/abc {machine.fsx.path} lustre noatime 0 0\n")
    )
    assert machine.run.named("systemctl") == [("enable", "fsx-mounted.service"), *machine.starts]


def test_a_line_of_an_older_file_system_at_the_same_folder_is_replaced(machine: MountingMachine) -> None:
    machine.fstab.write_text(f"fs-old@tcp:/old {machine.fsx.path} lustre flock 0 0\n\n")
    machine.apply()
    assert [line for line in machine.fstab.read_text().splitlines() if line] == [machine.fsx.line]


@pytest.mark.fault(62)
def test_errors_that_go_away_are_waited_for(machine: MountingMachine) -> None:
    machine.failures = 5
    machine.apply()
    assert len(machine.starts) == 6
    assert len([words for words in machine.run.named("systemctl") if words[0] == "reset-failed"]) == 5
    assert 0 < machine.time.now_s < 300


@pytest.mark.fault(62)
def test_a_mount_that_never_comes_ends_the_node_within_the_bound(
    machine: MountingMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.failures = 10_000
    with pytest.raises(
        NodeError,
        match=r"fs-1@tcp:/abc at .*/fsx: gave up after \d+ attempts .*; output of mount: mount\.lustre: Input/output error \d+$",
    ):
        machine.apply()
    assert capsys.readouterr().out.splitlines()[-1].startswith("the next attempt may succeed: ")
    assert machine.time.now_s <= 301


@pytest.mark.fault(62)
def test_the_nodes_of_a_large_cluster_do_not_begin_at_once(machine: MountingMachine) -> None:
    machine.time.chance = 0.5
    machine.apply(nodes=400)
    assert machine.time.pauses == [2.0]


@pytest.mark.fault(62)
def test_success_without_a_mount_is_a_failure_that_says_what_mount_said(machine: MountingMachine) -> None:
    machine.lies = True
    with pytest.raises(
        NodeError, match=r"ended with status 0 but mounted nothing; output of mount: mount\.lustre: Can't parse NID"
    ):
        machine.apply()
    assert not machine.run.named("/usr/bin/python3"), "the write probe must not fill the folder below the mount"
    assert machine.path("/run/hyperpod-mount-fsx.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.fault(62)
def test_a_file_system_that_cannot_be_written_ends_the_node(machine: MountingMachine) -> None:
    machine.answers("/usr/bin/python3", NodeError("Read-only file system"))
    with pytest.raises(NodeError, match=r"writing to .*/fsx: gave up .*Read-only file system"):
        machine.apply()


@pytest.mark.fault(62)
def test_a_file_system_that_loses_what_was_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_probe, "_read", lambda folder: "")
    with pytest.raises(ValueError, match="wrote 'worker-1' but read ''"):
        write_probe.probe(tmp_path, "worker-1")


def test_the_write_probe_writes_through_no_link_of_a_users(machine: MountingMachine) -> None:
    """Also where an administrator opened /fsx for all."""
    victim = machine.root / "victim"
    victim.write_text("root's own")
    machine.path("/fsx").mkdir(mode=0o777)
    (machine.path("/fsx") / ".write-probe-worker-1").symlink_to(victim)

    machine.apply()

    assert victim.read_text() == "root's own"


def test_systemd_mounts_so_that_the_mount_outlives_the_scripts_namespace(machine: MountingMachine) -> None:
    machine.apply()
    assert machine.starts == [("start", mount.mount_unit(machine.fsx.path))]
    assert str(machine.fsx.path) in machine.host_mounts.read_text()
    assert not machine.run.named("mount")


def test_a_mount_that_only_the_scripts_see_is_no_mount(machine: MountingMachine) -> None:
    machine.own_mounts.write_text(f"{OTHER_MOUNTS}90 25 0:44 / {machine.fsx.path} rw - lustre x rw\n")
    machine.apply()
    assert len(machine.starts) == 1


def test_scripts_that_do_not_see_the_nodes_mounts_mount_for_themselves_as_well(machine: MountingMachine) -> None:
    machine.mounts = "private"
    machine.apply()
    assert len(machine.starts) == 1
    assert mount.is_mounted(machine.fsx.path, machine.system)


def test_slurmd_does_not_start_without_the_mount_and_is_tried_again(machine: MountingMachine) -> None:
    machine.apply()
    drop_in = (machine.units / "slurmd.service.d/fsx.conf").read_text()
    assert f'ExecStartPre=/bin/grep --quiet " {machine.fsx.path} " /proc/self/mountinfo\n' in drop_in
    assert f"After={mount.mount_unit(machine.fsx.path)}\n" in drop_in


@pytest.mark.parametrize(("path", "unit"), [("/fsx", "fsx.mount"), ("/home", "home.mount"), ("/a/b-c", "a-b\\x2dc.mount")])
def test_a_mount_unit_has_the_name_that_systemd_gives_it(path: str, unit: str) -> None:
    assert mount.mount_unit(Path(path)) == unit


def test_the_write_probe_leaves_nothing_behind(machine: MountingMachine) -> None:
    machine.apply()
    assert list(machine.path("/fsx").iterdir()) == []


def test_a_mount_below_the_folder_is_not_the_folder_s(machine: MountingMachine) -> None:
    for mounts in (machine.host_mounts, machine.own_mounts):
        mounts.write_text(f"{OTHER_MOUNTS}90 25 0:44 / {machine.fsx.path}/data rw - ext4 x rw\n")
    machine.apply()
    assert len(machine.starts) == 1


@pytest.mark.parametrize("mounts", ["slave", "private"])
def test_hyperpods_own_mount_is_shown_to_the_scripts_and_changes_no_file(machine: MountingMachine, mounts: str) -> None:
    machine.mounts = mounts
    (machine.root / "fsx").mkdir()
    machine.system.run("systemctl", "start", "fsx.mount")
    before = machine.fstab.exists()
    mount.require(Path("/fsx"), node="worker-1", system=machine.system)
    assert " /fsx " in machine.own_mounts.read_text()
    assert machine.run.named("mount") == ([("-t", "lustre", "x", "/fsx")] if mounts == "private" else [])
    assert machine.fstab.exists() == before
    guard = (machine.units / "slurmd.service.d" / "fsx.conf").read_text()
    assert 'ExecStartPre=/bin/grep --quiet " /fsx " /proc/self/mountinfo' in guard


def test_a_mount_that_hyperpod_does_not_make_ends_the_node_within_the_bound(machine: MountingMachine) -> None:
    with pytest.raises(NodeError, match=r"HyperPod's mount at /fsx: gave up after .* nothing is mounted at /fsx"):
        mount.require(Path("/fsx"), node="worker-1", system=machine.system)
    assert machine.time.now_s <= 301
