"""Mounts the FSx for Lustre file system at /fsx, over EFA where the node can."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import lustre_efa, mount
from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.shell import Run

FSX = Path("/fsx")
# As AWS documents (https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html), but for three things.
# noatime: reading a data set with thousands of processes must not write. No automount: it hides a mount that fails until a job
# needs it. network-online.target: AWS names the unit behind it, which is another one on each release of the system.
OPTIONS = "defaults,noatime,flock,_netdev,x-systemd.requires=network-online.target"


def apply(
    context: Context,
    path: Path = FSX,
    system: mount.System = mount.SYSTEM,
    efa: lustre_efa.Places = lustre_efa.PLACES,
) -> bool:
    """Mount the file system, where the cluster has one; the step for users says what becomes of the homes otherwise."""
    parameters = context.parameters
    if not parameters.fsx_dns_name:
        return False
    if not parameters.fsx_mountname:
        raise NodeError(f"{parameters.path} has fsx_dns_name and no fsx_mountname; a mount needs both")
    _use_efa(context, efa, system.run)
    line = mount.Mount(f"{parameters.fsx_dns_name}@tcp:/{parameters.fsx_mountname}", path, "lustre", OPTIONS)
    mount.mount(line, node=context.node.name, nodes=len(context.cluster.instances), system=system)
    return True


def _use_efa(context: Context, places: lustre_efa.Places, run: Run) -> None:
    """Set Lustre's network up over EFA; where that fails the node works over TCP, which is slower and no reason to lose it."""
    if context.known is None or not context.known.efa:
        return
    try:
        lustre_efa.set_up(context.instance_type, places, run)
    except NodeError as error:
        print(f"warning: Lustre uses TCP instead of EFA on this {context.instance_type}: {error}")
