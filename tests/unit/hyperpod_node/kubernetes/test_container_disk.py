"""The data of containerd and kubelet is on the largest disk of a node on Amazon EKS, at every boot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.kubernetes import container_disk
from hyperpod_node.kubernetes.container_disk import EBS, INSTANCE_STORE, KUBELET, NVME, SECOND_VOLUME, UNIT
from hyperpod_node.kubernetes.kubernetes_plan import KubernetesContext
from tests.unit.hyperpod_node.fake_system import FakeSystem
from tests.unit.hyperpod_node.manual_time import ManualTime

DATA = Path(__file__).parents[3] / "data" / "containerd"
BIND_FOLDERS = Path(container_disk.__file__).with_name("bind_folders.sh")
CONTEXT = KubernetesContext(Path("/bundle"))
FOLDERS = (Path("/var/lib/containerd"), KUBELET)
ETC_EKS, ETC = container_disk.CONFIGURATIONS


class DiskNode(FakeSystem):
    """A node with disks; the unit binds the folders that it names."""

    def boot(self, *disks: Path, active: tuple[str, ...] = (), devices: tuple[str, ...] = (EBS,)) -> DiskNode:
        self.active = set(active)
        self.mounts = [Path("/"), *disks]
        self._write_mounts()
        for number, model in enumerate(devices):
            self.write(f"/sys/block/nvme{number}n1/device/model", f"{model}   \n")
        self.answers("systemctl", self._systemctl)
        return self

    def mount(self, path: Path) -> None:
        self.mounts.append(path)
        self._write_mounts()

    def apply(self) -> None:
        container_disk.apply(CONTEXT, self.system)

    @property
    def calls(self) -> list[str]:
        return [" ".join(command[1:]) for command in self.run.commands if "is-active" not in command]

    def _write_mounts(self) -> None:
        self.write("/proc/1/mountinfo", "".join(f"1 1 0:1 / {path} rw - ext4 x rw\n" for path in self.mounts))

    def _systemctl(self, command: tuple[str, ...], _: str | None) -> str:
        verb, *arguments = command
        if verb == "is-active" and arguments[-1] not in self.active:
            raise NodeError("inactive")
        if verb == "restart":
            line = next(
                each for each in self.path(f"/etc/systemd/system/{UNIT}").read_text().splitlines() if "ExecStart=" in each
            )
            self.mounts += [Path(word) for word in line.split()[2:]]
            self._write_mounts()
        return ""


class MountingTime(ManualTime):
    """Time in which the node mounts a disk."""

    def __init__(self, node: DiskNode, disk: Path) -> None:
        super().__init__()
        self._node, self._disk = node, disk

    def _sleep(self, seconds: float) -> None:
        super()._sleep(seconds)
        self._node.mount(self._disk)


@pytest.fixture
def node(tmp_path: Path) -> DiskNode:
    return DiskNode(tmp_path)


@pytest.mark.parametrize(
    ("disks", "chosen"), [((NVME, SECOND_VOLUME), NVME), ((SECOND_VOLUME, NVME), NVME), ((SECOND_VOLUME,), SECOND_VOLUME)]
)
def test_the_instance_store_is_better_than_the_second_volume(node: DiskNode, disks: tuple[Path, ...], chosen: Path) -> None:
    node.boot(*disks).apply()
    unit = node.path(f"/etc/systemd/system/{UNIT}").read_text()
    assert f"ExecStart=/opt/hyperpod-cdk/bind_folders.sh {chosen} /var/lib/containerd /var/lib/kubelet\n" in unit
    assert "Before=containerd.service kubelet.service\n" in unit
    assert os.access(node.path("/opt/hyperpod-cdk/bind_folders.sh"), os.X_OK)


def test_a_second_run_changes_nothing(node: DiskNode) -> None:
    node.boot(NVME).apply()
    assert node.calls == ["daemon-reload", f"enable {UNIT}", f"restart {UNIT}"]
    node.run.commands.clear()
    node.apply()
    assert node.calls == []


def test_services_that_run_already_are_stopped_meanwhile(node: DiskNode) -> None:
    node.boot(NVME, active=("containerd", "kubelet")).apply()
    assert node.calls[2:] == ["stop kubelet", "stop containerd", f"restart {UNIT}", "start containerd", "start kubelet"]


def test_services_start_again_when_the_mount_fails(node: DiskNode) -> None:
    node.boot(NVME, active=("containerd",))
    works = node.run.programs["systemctl"]

    def fails(arguments: tuple[str, ...], stdin: str | None) -> str:
        if arguments[0] == "restart":
            raise NodeError("`systemctl restart` ended with status 1: no space")
        return works(arguments, stdin)

    node.answers("systemctl", fails)
    with pytest.raises(NodeError, match="no space"):
        node.apply()
    assert node.calls[-1] == "start containerd"


def test_a_mount_that_does_not_appear_is_an_error(node: DiskNode) -> None:
    node.boot(NVME)
    node.answers("systemctl", "")
    with pytest.raises(NodeError, match=r"mounted nothing at /var/lib/containerd, /var/lib/kubelet$"):
        node.apply()


def test_without_a_disk_the_root_volume_is_used(node: DiskNode, capsys: pytest.CaptureFixture[str]) -> None:
    node.boot().apply()
    assert (
        capsys.readouterr().out == "neither /opt/dlami/nvme nor /opt/sagemaker is mounted: images and pods use the root volume\n"
    )
    assert (node.calls, node.time.now_s) == ([], 0)


@pytest.mark.parametrize(
    ("devices", "disk"), [((EBS, INSTANCE_STORE), NVME), ((EBS, EBS), SECOND_VOLUME), ((EBS, EBS, INSTANCE_STORE), NVME)]
)
def test_a_disk_whose_device_exists_is_waited_for(node: DiskNode, devices: tuple[str, ...], disk: Path) -> None:
    node.boot(devices=devices)
    node.time = MountingTime(node, disk)
    node.apply()
    assert node.time.now_s == 5
    assert f" {disk} " in node.path(f"/etc/systemd/system/{UNIT}").read_text()


def test_the_wait_for_a_disk_ends(node: DiskNode) -> None:
    node.boot(SECOND_VOLUME, devices=(EBS, EBS, INSTANCE_STORE)).apply()
    assert node.time.now_s == container_disk.DISK_TIMEOUT_S
    assert f" {SECOND_VOLUME} " in node.path(f"/etc/systemd/system/{UNIT}").read_text()


@pytest.mark.parametrize("name", ["amazon-linux-2", "amazon-linux-2023", "package-default"])
@pytest.mark.parametrize("place", [ETC_EKS, ETC])
def test_the_folder_of_containerd_is_that_of_its_configuration(node: DiskNode, name: str, place: Path) -> None:
    node.write(str(place), (DATA / f"{name}.toml").read_text())
    assert container_disk.containerd_root(node.system) == Path("/var/lib/containerd")


def test_another_folder_of_containerd_is_found_in_the_file_that_counts(node: DiskNode) -> None:
    text = (DATA / "amazon-linux-2.toml").read_text()
    node.write(str(ETC), text)
    node.write(str(ETC_EKS), text.replace("/var/lib/containerd", "/data/containerd"))
    assert container_disk.containerd_root(node.system) == Path("/data/containerd")


def test_a_folder_that_is_on_a_disk_already_stays(node: DiskNode) -> None:
    text = (DATA / "amazon-linux-2023.toml").read_text()
    node.write(str(ETC), text.replace("/var/lib/containerd", "/opt/sagemaker/containerd/data-root"))
    node.boot(NVME, SECOND_VOLUME).apply()
    assert (
        "ExecStart=/opt/hyperpod-cdk/bind_folders.sh /opt/dlami/nvme /var/lib/kubelet\n"
        in node.path(f"/etc/systemd/system/{UNIT}").read_text()
    )


class Shell:
    """bind_folders.sh with programs that record mounts."""

    def __init__(self, folder: Path) -> None:
        self.disk, self.kubelet, self.mounted = folder / "disk", folder / "lib" / "kubelet", folder / "mounted"
        self._programs = folder / "bin"
        self._programs.mkdir()
        self.mounted.write_text(f"{self.disk}\n")
        self._program("mountpoint", f'grep -qx "$2" {self.mounted}')
        self._program("mount", f'echo "$3" >>{self.mounted}')

    def run(self) -> str:
        command = ["bash", str(BIND_FOLDERS), str(self.disk), str(self.kubelet)]
        environment = {**os.environ, "PATH": f"{self._programs}:{os.environ['PATH']}"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    def _program(self, name: str, text: str) -> None:
        (self._programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (self._programs / name).chmod(0o755)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_files_are_copied_once_before_the_folder_is_mounted(shell: Shell) -> None:
    shell.kubelet.mkdir(parents=True)
    (shell.kubelet / ".config").write_text("a")
    shell.run()
    copy = shell.disk / "kubernetes" / "kubelet" / ".config"
    assert copy.read_text() == "a"
    assert shell.mounted.read_text().splitlines() == [str(shell.disk), str(shell.kubelet)]
    (shell.kubelet / ".config").write_text("older")
    shell.run()
    shell.mounted.write_text(f"{shell.disk}\n")
    shell.run()
    assert copy.read_text() == "a"


def test_a_missing_folder_is_created_and_a_missing_disk_only_warned_about(shell: Shell) -> None:
    shell.run()
    assert shell.kubelet.is_dir()
    shell.mounted.write_text("")
    assert shell.run() == f"warning: {shell.disk} is not mounted: images and pods use the root volume\n"
    assert shell.mounted.read_text() == ""
