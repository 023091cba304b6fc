"""Mount the FSx for Lustre file system at /fsx, over EFA if the node supports it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import lustre_efa, mount
from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

FSX = Path("/fsx")
# As AWS documents (https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html), with three differences.
# noatime: thousands of processes that read a data set must not cause writes. No automount: it hides a failed mount until a job
# needs it. network-online.target: AWS names the unit behind it, which differs between releases of the operating system.
OPTIONS = "defaults,noatime,flock,_netdev,x-systemd.requires=network-online.target"


def apply(context: Context, system: System) -> bool:
    """Mount the file system, if the cluster has one; the step for users logs where homes are otherwise."""
    parameters = context.parameters
    if not parameters.fsx_dns_name:
        return False
    if not parameters.fsx_mountname:
        raise NodeError(f"{parameters.path} has fsx_dns_name but no fsx_mountname; set both")
    _use_efa(context, system)
    entry = mount.FstabEntry(f"{parameters.fsx_dns_name}@tcp:/{parameters.fsx_mountname}", FSX, "lustre", OPTIONS)
    mount.mount(entry, node=context.node.name, nodes=len(context.cluster.instances), system=system)
    return True


def _use_efa(context: Context, system: System) -> None:
    """Configure Lustre over EFA; if that fails, the node uses TCP, which is slower."""
    if context.hardware is None or not context.hardware.efa:
        return
    try:
        lustre_efa.set_up(context.instance_type, system)
    except NodeError as error:
        print(f"warning: Lustre uses TCP instead of EFA on this {context.instance_type}: {error}")
