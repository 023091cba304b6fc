"""Greets who logs in with what this node is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.managed_file import put

if TYPE_CHECKING:
    from hyperpod_node.context import Context

FILE = Path("/etc/motd")


def apply(context: Context, file: Path = FILE) -> None:
    """Write the node's place in the cluster, and the cluster file's own message."""
    node = context.node
    lines = [f"SageMaker HyperPod cluster {node.cluster_name}: {node.name}, {node.role} node of group {node.group}"]
    if homes.shared(context.parameters):
        lines.append(
            f"Homes are in {homes.folder(context.parameters)} on all nodes; all else on this node is lost when it is replaced."
        )
    if context.settings.message_of_the_day:
        lines += ["", *context.settings.message_of_the_day.rstrip("\n").split("\n")]
    put(file, "\n".join(["", *lines, "", ""]))
