"""Write the message of the day: what this node is, and the cluster file's own message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.managed_file import put

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

FILE = Path("/etc/motd")


def apply(context: Context, system: System) -> None:
    """Write the cluster, name, role and group of the node, where homes are, and the cluster file's message."""
    node = context.node
    lines = [f"SageMaker HyperPod cluster {context.cluster.cluster_name}: {node.name}, {context.role} node of group {node.group}"]
    if homes.shared(context.parameters):
        lines.append(f"Homes are in {homes.folder(context)} on all nodes; other files are lost when this node is replaced.")
    if context.settings.message_of_the_day:
        lines += ["", *context.settings.message_of_the_day.rstrip("\n").split("\n")]
    put(system.path(FILE), "\n".join(["", *lines, "", ""]))
