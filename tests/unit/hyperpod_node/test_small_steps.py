"""The greeting, the disk for containers, and the rotation of logs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hyperpod_node.mount import HOST_MOUNTS, OWN_MOUNTS
from hyperpod_node.steps import file_systems, log_rotation, message_of_the_day
from tests.unit.hyperpod_node.a_node import LUSTRE, a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem

LOGROTATE = "etc/logrotate.d"


def motd(folder: Path) -> FakeSystem:
    node = FakeSystem(folder)
    node.write("/etc/motd", "")
    return node


def test_who_logs_in_reads_where_they_are_and_the_file_s_message(tmp_path: Path) -> None:
    message_of_the_day.apply(a_context(lustre=LUSTRE, message="be kind\n"), motd(tmp_path).system)
    lines = [line for line in (tmp_path / "etc/motd").read_text().splitlines() if line]
    assert lines == [
        "SageMaker HyperPod cluster ml-cluster: compute-nodes-1, compute node of group compute-nodes",
        "Homes are in /fsx/home on all nodes; other files are lost when this node is replaced.",
        "be kind",
    ]


@pytest.mark.fault(73)
def test_where_homes_are_local_the_greeting_promises_nothing(tmp_path: Path) -> None:
    message_of_the_day.apply(a_context(), motd(tmp_path).system)
    assert "Homes" not in (tmp_path / "etc/motd").read_text()


NVME, SECOND = str(file_systems.NVME), str(file_systems.SECOND_VOLUME)


class Disks:
    """A node with disks, some of them mounted."""

    def __init__(self, folder: Path, *mounted: str) -> None:
        self.node = FakeSystem(folder)
        for mounts in (HOST_MOUNTS, OWN_MOUNTS):
            self.node.write(str(mounts), "".join(f"25 1 259:1 / {path} rw - ext4 x rw\n" for path in mounted))
        self.link = self.node.path(file_systems.LINK)

    def apply(self) -> str:
        file_systems.choose_container_disk(a_context(), self.node.system)
        return str(self.link.readlink().relative_to(self.node.root))


@pytest.mark.fault(74)
def test_containers_go_to_the_fast_disk_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Disks(tmp_path, NVME, SECOND).apply() == "opt/dlami/nvme/containers"
    assert capsys.readouterr().out == ""


@pytest.mark.fault(74)
@pytest.mark.parametrize(("mounted", "chosen"), [((SECOND,), "opt/sagemaker/containers"), ((), "var/lib/containers")])
def test_without_a_fast_disk_one_line_says_where_containers_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mounted: tuple[str, ...], chosen: str
) -> None:
    disks = Disks(tmp_path, *mounted)
    for _ in range(2):
        assert disks.apply() == chosen
        assert capsys.readouterr().out == f"no disk at {NVME}: containers go to {tmp_path}/{chosen}\n"
        assert disks.link.is_dir()


@pytest.mark.fault(74)
def test_a_disk_that_came_or_went_moves_the_name_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Disks(tmp_path).apply()
    (tmp_path / "var/lib/containers/layer").touch()
    capsys.readouterr()
    assert Disks(tmp_path, NVME).apply() == "opt/dlami/nvme/containers"
    assert capsys.readouterr().out == (
        f"containers go to {tmp_path}{NVME}/containers; {tmp_path}/var/lib/containers stays as it is\n"
    )
    assert (tmp_path / "var/lib/containers/layer").exists()


SLURM_LOG, SLURMD_LOG = "/var/log/slurm/slurmctld.log", "/var/log/slurm/slurmd.log"


@pytest.mark.fault(66)
def test_logs_of_slurm_and_of_these_scripts_are_rotated_and_a_second_run_writes_nothing(tmp_path: Path) -> None:
    log_rotation.apply(a_context(), FakeSystem(tmp_path).system)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / LOGROTATE).iterdir()}
    log_rotation.apply(a_context(), FakeSystem(tmp_path).system)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / LOGROTATE).iterdir()} == before
    assert "/var/log/provision/*.log {" in (tmp_path / LOGROTATE / "hyperpod-provisioning").read_text()
    assert {SLURM_LOG, SLURMD_LOG} <= set((tmp_path / LOGROTATE / "hyperpod-slurm").read_text().split())


def test_logs_that_another_file_rotates_are_left_to_it(tmp_path: Path) -> None:
    FakeSystem(tmp_path).write(f"{LOGROTATE}/slurmctld", f"/var/log/slurm-llnl/slurmctld.log {SLURM_LOG} {{\n    weekly\n}}\n")
    log_rotation.apply(a_context(), FakeSystem(tmp_path).system)
    words = (tmp_path / LOGROTATE / "hyperpod-slurm").read_text().split()
    assert SLURM_LOG not in words
    assert SLURMD_LOG in words


@pytest.mark.parametrize("pattern", ["/var/log/slurm/*.log", "/var/log/slurm/*"])
def test_where_another_file_rotates_all_of_slurm_s_logs_there_is_nothing_left_to_do(tmp_path: Path, pattern: str) -> None:
    FakeSystem(tmp_path).write(f"{LOGROTATE}/slurm", f"{pattern} {{\n    weekly\n}}\n")
    log_rotation.apply(a_context(), FakeSystem(tmp_path).system)
    file = tmp_path / LOGROTATE / "hyperpod-slurm"
    content = file.read_text()
    assert content.startswith("#")
    assert "{" not in content
    assert subprocess.run(["grep", "-c", "^", file], capture_output=True, check=True).stdout == b"1\n"
