"""Finds the disk for container images and layers: the node's fast one, where it has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.mount import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

NVME = Path("/opt/dlami/nvme")  # the AMI's stripe over the instance's own disks
SECOND_VOLUME = Path("/opt/sagemaker")  # the EBS volume of the instance group
ROOT_VOLUME = Path("/var/lib")
LINK = Path("/opt/hyperpod-cdk/containers")


def apply(
    context: Context,  # noqa: ARG001 - the disk is the node's own matter
    link: Path = LINK,
    disks: tuple[Path, ...] = (NVME, SECOND_VOLUME),
    otherwise: Path = ROOT_VOLUME,
    system: System = SYSTEM,
) -> None:
    """Make a folder for containers on the best disk, and one name by which to find it."""
    disk = next((disk for disk in disks if system.is_mounted(disk)), otherwise)
    folder = disk / "containers"
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    before = link.readlink() if link.is_symlink() else folder
    if before != folder or not link.is_symlink():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
    if before != folder:
        print(f"containers go to {folder}; {before} stays as it is")
    elif disk != disks[0]:
        print(f"no disk at {disks[0]}: containers go to {folder}")
