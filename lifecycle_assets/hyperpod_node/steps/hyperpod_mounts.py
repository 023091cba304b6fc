"""Check the file systems that HyperPod mounts from the request's InstanceStorageConfigs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node import mount
from hyperpod_node.steps import fsx, openzfs

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System


def apply(context: Context, system: System) -> bool:
    """Wait for the mounts of the cluster's file systems, and prove that they are writable; do nothing without file systems."""
    names = {fsx.FSX: context.parameters.fsx_dns_name, openzfs.HOME: context.parameters.fsx_openzfs_dns_name}
    paths = [path for path, name in names.items() if name]
    for path in paths:
        mount.require(path, node=context.node.name, system=system)
    return bool(paths)
