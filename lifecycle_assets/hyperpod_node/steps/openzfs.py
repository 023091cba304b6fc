"""Mounts the FSx for OpenZFS file system at /home, where the cluster has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import mount

if TYPE_CHECKING:
    from hyperpod_node.context import Context

HOME = Path("/home")
# What AWS documents for its Slurm services (https://docs.aws.amazon.com/pcs/latest/userguide/working-with_file-systems.html),
# and over how many connections (https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance.html).
OPTIONS = "noatime,nfsvers=4.2,sync,nconnect=16,rsize=1048576,wsize=1048576,_netdev,x-systemd.requires=network-online.target"


def apply(context: Context, path: Path = HOME, system: mount.System = mount.SYSTEM) -> bool:
    """Mount the file system's volume /fsx at /home, where there is one."""
    if not context.parameters.fsx_openzfs_dns_name:
        return False
    line = mount.Mount(f"{context.parameters.fsx_openzfs_dns_name}:/fsx", path, "nfs", OPTIONS)
    mount.mount(line, node=context.node.name, nodes=len(context.cluster.instances), system=system)
    return True
