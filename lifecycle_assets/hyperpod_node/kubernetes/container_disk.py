"""Put the data of containerd and kubelet on the node's largest disk, because the root volume has only 100 GB.

The folders stay where they are, as bind mounts, like the EKS images mount their own instance store. So neither containerd's
configuration nor kubelet's arguments change, which differ between Amazon Linux 2 and 2023 and which nodeadm writes again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.mount import HOST_MOUNTS, lists

if TYPE_CHECKING:
    from hyperpod_node.system import System

NVME = Path("/opt/dlami/nvme")  # the image's stripe set of the instance's own disks
SECOND_VOLUME = Path("/opt/sagemaker")  # the EBS volume of `volume_gib`
KUBELET, CONTAINERD = Path("/var/lib/kubelet"), Path("/var/lib/containerd")
# On Amazon Linux 2, bootstrap.sh copies the first to the second before containerd starts; 2023 has only the second, from nodeadm.
CONFIGURATIONS = (Path("/etc/eks/containerd/containerd-config.toml"), Path("/etc/containerd/config.toml"))
ROOT = re.compile(r'^root\s*=\s*["\'](?P<path>/[^"\']*)["\']', re.MULTILINE)
PROGRAM = Path("/opt/hyperpod-cdk/bind_folders.sh")
UNIT = "hyperpod-container-disk.service"
UNITS = Path("/etc/systemd/system")
SERVICES = ("kubelet", "containerd")  # in the order in which they are stopped
DISK_TIMEOUT_S = 60
COPY_TIMEOUT_S = 600
INSTANCE_STORE, EBS = "Amazon EC2 NVMe Instance Storage", "Amazon Elastic Block Store"


def apply(_: object, system: System) -> None:
    """Mount the folders on the disk now and at every boot; do nothing where they are."""
    disk = find_disk(system)
    if disk is None:
        print(f"neither {NVME} nor {SECOND_VOLUME} is mounted: images and pods use the root volume")
        return
    folders = [folder for folder in (containerd_root(system), KUBELET) if not _is_below(folder, (NVME, SECOND_VOLUME))]
    changed = put(system.path(PROGRAM), Path(__file__).with_name("bind_folders.sh").read_text(), mode=0o755)
    changed |= put(system.path(UNITS / UNIT), unit(disk, folders))
    if changed or not all(lists(HOST_MOUNTS, folder, system) for folder in folders):
        _mount(system)
    missing = [str(folder) for folder in folders if not lists(HOST_MOUNTS, folder, system)]
    if missing:
        raise NodeError(f"`systemctl restart {UNIT}` ended with status 0 but mounted nothing at {', '.join(missing)}")
    print(f"images and pods use {disk}")


def find_disk(system: System) -> Path | None:
    """Return the best disk; wait for those whose devices the node has, because they are mounted while it boots."""
    end = system.clock.now() + DISK_TIMEOUT_S
    expected = _expected(system)
    while True:
        found = next((disk for disk in (NVME, SECOND_VOLUME) if lists(HOST_MOUNTS, disk, system)), None)
        if found == next(iter(expected), found) or system.clock.now() >= end:
            return found
        print(f"waiting for {expected[0]}, up to {DISK_TIMEOUT_S} s", flush=True)
        system.clock.sleep(5)


def containerd_root(system: System) -> Path:
    """Return the folder of containerd's data; only keys before the first table are containerd's own."""
    for file in map(system.path, CONFIGURATIONS):
        own = re.split(r"^\s*\[", file.read_text(errors="replace"), flags=re.MULTILINE)[0] if file.exists() else ""
        found = ROOT.search(own)
        if found:
            return Path(found.group("path"))
    return CONTAINERD


def unit(disk: Path, folders: list[Path]) -> str:
    """Return the unit that mounts the folders at every boot, before the services that use them."""
    return f"""# Written by the lifecycle scripts.
[Unit]
Description=Data of containerd and kubelet on {disk}
After=local-fs.target dlami-nvme.service
Before=containerd.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={PROGRAM} {disk} {" ".join(map(str, folders))}
TimeoutStartSec={COPY_TIMEOUT_S}

[Install]
WantedBy=multi-user.target
"""


def _mount(system: System) -> None:
    """Run the unit in the node's own mount namespace, while no service uses the folders."""
    system.run("systemctl", "daemon-reload")
    system.run("systemctl", "enable", UNIT)
    active = [service for service in SERVICES if system.succeeds("systemctl", "is-active", "--quiet", service)]
    for service in active:
        system.run("systemctl", "stop", service, timeout_s=120)
    try:
        system.run("systemctl", "restart", UNIT, timeout_s=COPY_TIMEOUT_S + 10)
    finally:
        for service in reversed(active):
            system.run("systemctl", "start", service, timeout_s=120)


def _is_below(folder: Path, disks: tuple[Path, ...]) -> bool:
    return any(disk in folder.parents for disk in disks)


def _expected(system: System) -> list[Path]:
    """Return the disks whose devices the kernel lists, the best one first; one EBS volume is the root volume."""
    files = sorted(system.path("/sys/block").glob("nvme*/device/model"))
    models = [file.read_text(errors="replace").strip() for file in files]
    return [*([NVME] if INSTANCE_STORE in models else []), *([SECOND_VOLUME] if models.count(EBS) > 1 else [])]
