"""Mount the FSx for OpenZFS file system at /home, if the cluster has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import mount

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

HOME = Path("/home")
# AWS documents the options for its Slurm services (https://docs.aws.amazon.com/pcs/latest/userguide/working-with_file-systems.html)
# and the number of connections for OpenZFS (https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance.html).
OPTIONS = "noatime,nfsvers=4.2,sync,nconnect=16,rsize=1048576,wsize=1048576,_netdev,x-systemd.requires=network-online.target"


def apply(context: Context, system: System) -> bool:
    """Mount the file system's volume /fsx at /home, if there is one."""
    if not context.parameters.fsx_openzfs_dns_name:
        return False
    entry = mount.FstabEntry(f"{context.parameters.fsx_openzfs_dns_name}:/fsx", HOME, "nfs", OPTIONS)
    mount.mount(entry, node=context.node.name, nodes=len(context.cluster.instances), system=system)
    return True
