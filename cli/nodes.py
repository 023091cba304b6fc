"""`./hpod nodes CLUSTER`: the nodes of each group with all their names."""

from itertools import groupby

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_directory import Node, NodeDirectory, node_directory
from cli.remote.shell import Shell
from cli.result import Block, Result, Table, warning_problem
from cli.status.kubernetes import KubernetesState

HEAD = ("NODE", "NAME", "HOST", "ADDRESS", "STATUS", "IMAGE")
EKS_HEAD = ("NODE", "ADDRESS", "STATUS", "KUBERNETES", "HEALTH", "IMAGE")


def nodes(deployment: Deployment, shell: Shell | None = None) -> Result:
    """Return every node with its names, group, role, status and image release."""
    directory = node_directory(deployment, shell)
    if directory.is_eks:
        return _with_kubernetes(directory)
    found, reason = directory.named, directory.unnamed_reason
    blocks: list[Block] = []
    for group, members in groupby(found, lambda node: node.group):
        of_group = sorted(members, key=lambda node: (len(node.name), node.name, node.instance))
        first = of_group[0]
        blocks += [f"group {group} ({first.role or 'not in the file'}, {first.instance_type or 'unknown type'})"]
        blocks += [Table(HEAD, [_row(node) for node in of_group])]
    unknown = [CommandError(f"HyperPod's names are unknown: {reason.message}", reason.fix)] if reason else []
    blocks += map(str, unknown)
    blocks += _last_line(directory)
    data = {"cluster": directory.cluster, "nodes": [{**node.data(), "kubernetes": None} for node in found]}
    return Result(data, blocks, list(map(warning_problem, unknown)))


def _with_kubernetes(directory: NodeDirectory) -> Result:
    """Return every node with its state in Kubernetes, where `hyperpod-` before the instance id is its name."""
    state, blocks = KubernetesState.read(directory.deployment), list[Block]()
    for group, members in groupby(directory.nodes, lambda node: node.group):
        of_group = list(members)
        rows = [_eks_row(node, state) for node in of_group]
        blocks += [f"group {group} ({of_group[0].instance_type or 'unknown type'})", Table(EKS_HEAD, rows)]
    blocks += [*state.lines(), *_last_line(directory)]
    known = [(node, state.of(node.instance)) for node in directory.nodes]
    data = [{**node.data(), "kubernetes": found.data() if found else None} for node, found in known]
    problems = [warning_problem(each) for each in state.problems]
    return Result({"cluster": directory.cluster, "nodes": data}, blocks, problems)


def _last_line(directory: NodeDirectory) -> list[str]:
    if not directory.nodes:
        return ["no nodes"]
    return [f"open a shell with `{directory.deployment.hpod('ssh', 'NODE')}`; any name of a node works"]


def _status(node: Node) -> str:
    return f"{node.status}: {node.message}" if node.message else node.status


def _eks_row(node: Node, state: KubernetesState) -> tuple[str, ...]:
    found = state.of(node.instance)
    cells = (node.instance, node.address, _status(node), state.word(node.instance), found.health if found else "")
    return tuple(text or "-" for text in (*cells, node.image_release))


def _row(node: Node) -> tuple[str, ...]:
    return tuple(text or "-" for text in (node.instance, node.name, node.host, node.address, _status(node), node.image_release))
