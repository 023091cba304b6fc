"""The greeting, the disk for containers, and the rotation of logs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hyperpod_node.mount import System
from hyperpod_node.steps import container_storage, log_rotation, message_of_the_day

from tests.unit.hyperpod_node.a_node import LUSTRE, a_context


def test_who_logs_in_reads_where_they_are_and_the_file_s_message(tmp_path: Path) -> None:
    message_of_the_day.apply(a_context(lustre=LUSTRE, message="be kind\n"), tmp_path / "motd")
    lines = [line for line in (tmp_path / "motd").read_text().splitlines() if line]
    assert lines == [
        "SageMaker HyperPod cluster ml-cluster: compute-nodes-1, compute node of group compute-nodes",
        "Homes are in /fsx/home on all nodes; all else on this node is lost when it is replaced.",
        "be kind",
    ]


@pytest.mark.fault(73)
def test_where_homes_are_local_the_greeting_promises_nothing(tmp_path: Path) -> None:
    message_of_the_day.apply(a_context(), tmp_path / "motd")
    assert "Homes" not in (tmp_path / "motd").read_text()


class Disks:
    """A node with disks, some of them mounted."""

    def __init__(self, folder: Path, *mounted: str) -> None:
        self.folder, self.disks = folder, (folder / "nvme", folder / "sagemaker")
        mountinfo = folder / "mountinfo"
        mountinfo.write_text("".join(f"25 1 259:1 / {folder / name} rw - ext4 x rw\n" for name in mounted))
        self.system = System(host_mounts=mountinfo, own_mounts=mountinfo)
        self.link = folder / "containers"

    def apply(self) -> str:
        container_storage.apply(a_context(), self.link, self.disks, self.folder / "root", self.system)
        return str(self.link.readlink().relative_to(self.folder))


@pytest.mark.fault(74)
def test_containers_go_to_the_fast_disk_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Disks(tmp_path, "nvme", "sagemaker").apply() == "nvme/containers"
    assert capsys.readouterr().out == ""


@pytest.mark.fault(74)
@pytest.mark.parametrize(("mounted", "chosen"), [(("sagemaker",), "sagemaker/containers"), ((), "root/containers")])
def test_without_a_fast_disk_one_line_says_where_containers_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mounted: tuple[str, ...], chosen: str
) -> None:
    disks = Disks(tmp_path, *mounted)
    for _ in range(2):
        assert disks.apply() == chosen
        assert capsys.readouterr().out == f"no disk at {tmp_path}/nvme: containers go to {tmp_path}/{chosen}\n"
        assert disks.link.is_dir()


@pytest.mark.fault(74)
def test_a_disk_that_came_or_went_moves_the_name_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Disks(tmp_path).apply()
    (tmp_path / "containers" / "layer").touch()
    capsys.readouterr()
    assert Disks(tmp_path, "nvme").apply() == "nvme/containers"
    assert capsys.readouterr().out == f"containers go to {tmp_path}/nvme/containers; {tmp_path}/root/containers stays as it is\n"
    assert (tmp_path / "root" / "containers" / "layer").exists()


SLURM_LOG, SLURMD_LOG = "/var/log/slurm/slurmctld.log", "/var/log/slurm/slurmd.log"


@pytest.mark.fault(66)
def test_logs_of_slurm_and_of_these_scripts_are_rotated_and_a_second_run_writes_nothing(tmp_path: Path) -> None:
    log_rotation.apply(a_context(), tmp_path)
    before = {path: path.stat() for path in tmp_path.iterdir()}
    log_rotation.apply(a_context(), tmp_path)
    assert {path: path.stat() for path in tmp_path.iterdir()} == before
    assert "/var/log/provision/*.log {" in (tmp_path / "hyperpod-provisioning").read_text()
    assert {SLURM_LOG, SLURMD_LOG} <= set((tmp_path / "hyperpod-slurm").read_text().split())


def test_logs_that_another_file_rotates_are_left_to_it(tmp_path: Path) -> None:
    (tmp_path / "slurmctld").write_text(f"/var/log/slurm-llnl/slurmctld.log {SLURM_LOG} {{\n    weekly\n}}\n")
    log_rotation.apply(a_context(), tmp_path)
    words = (tmp_path / "hyperpod-slurm").read_text().split()
    assert SLURM_LOG not in words
    assert SLURMD_LOG in words


@pytest.mark.parametrize("pattern", ["/var/log/slurm/*.log", "/var/log/slurm/*"])
def test_where_another_file_rotates_all_of_slurm_s_logs_there_is_nothing_left_to_do(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "slurm").write_text(f"{pattern} {{\n    weekly\n}}\n")
    log_rotation.apply(a_context(), tmp_path)
    content = (tmp_path / "hyperpod-slurm").read_text()
    assert content.startswith("#")
    assert "{" not in content
    assert subprocess.run(["grep", "-c", "^", tmp_path / "hyperpod-slurm"], capture_output=True, check=True).stdout == b"1\n"
