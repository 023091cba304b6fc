"""`./hpod nodes CLUSTER`: the nodes of each group with all their names."""

from itertools import groupby

from cli.deployment import Deployment
from cli.node_directory import Node, node_directory
from cli.remote.shell import Shell
from cli.result import Block, Result, Table, warning_problem

HEAD = ("NODE", "NAME", "HOST", "ADDRESS", "STATUS", "IMAGE")


def nodes(deployment: Deployment, shell: Shell | None = None) -> Result:
    """Return every node with its names, group, role, status and image release."""
    directory = node_directory(deployment, shell)
    found, reason = directory.named, directory.unnamed_reason
    blocks: list[Block] = []
    for group, members in groupby(found, lambda node: node.group):
        of_group = sorted(members, key=lambda node: (len(node.name), node.name, node.instance))
        first = of_group[0]
        blocks += [f"group {group} ({first.role or 'not in the file'}, {first.instance_type or 'unknown type'})"]
        blocks += [Table(HEAD, [_row(node) for node in of_group])]
    unknown = f"HyperPod's names are unknown: {reason}"
    blocks += [unknown] if reason else []
    blocks += (
        [f"open a shell with `./hpod ssh {deployment.config.name} NODE`; any name of a node works"] if found else ["no nodes"]
    )
    data = {"cluster": directory.cluster, "nodes": [node.data() for node in found]}
    return Result(data, blocks, [warning_problem(unknown)] if reason else [])


def _row(node: Node) -> tuple[str, ...]:
    status = f"{node.status}: {node.message}" if node.message else node.status
    return tuple(text or "-" for text in (node.instance, node.name, node.host, node.address, status, node.image_release))
