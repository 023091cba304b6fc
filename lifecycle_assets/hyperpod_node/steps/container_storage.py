"""Choose the disk for container images and layers: the node's fast disk, if it has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.mount import is_mounted

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

NVME = Path("/opt/dlami/nvme")  # the AMI's stripe set of the instance's own disks
SECOND_VOLUME = Path("/opt/sagemaker")  # the EBS volume of the instance group
ROOT_VOLUME = Path("/var/lib")
LINK = Path("/opt/hyperpod-cdk/containers")


def apply(_: Context, system: System) -> None:
    """Create a folder for containers on the best disk, and a link to it that is the same on all nodes."""
    disk = next((disk for disk in (NVME, SECOND_VOLUME) if is_mounted(disk, system)), ROOT_VOLUME)
    folder, link = system.path(disk / "containers"), system.path(LINK)
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    before = link.readlink() if link.is_symlink() else folder
    if before != folder or not link.is_symlink():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
    if before != folder:
        print(f"containers go to {folder}; {before} stays as it is")
    elif disk != NVME:
        print(f"no disk at {NVME}: containers go to {folder}")
