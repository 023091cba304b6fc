"""The commands for simulated nodes: list them, open a shell on a node, and clean up after a killed run."""

import argparse
import json
import os
import shutil
import sys
import urllib.error
from collections.abc import Callable, Sequence
from pathlib import Path

from local_aws import process
from local_aws.builds.errors import HostError
from local_aws.nodes import shell, support, sweep
from local_aws.nodes.agent.behaviour import ENVIRONMENT, Behaviour

Node = dict[str, str]
_COLUMNS = ("cluster", "name", "role", "status", "address", "host", "id")
_FOLLOW_EVERY_S = 5  # so that a demo need not wait a minute for each wave of nodes
_FIRST_ROLES = ("login", "controller")  # preferred if only a cluster is given


def demand_support() -> None:
    """Raise an error if this machine cannot run nodes."""
    reasons = support.missing()
    if reasons:
        raise process.ProcessError("this machine cannot run nodes: " + "; ".join(reasons))


def behaviour() -> Behaviour:
    """Return the behaviour of HyperPod's agent, from the environment of `up` and `serve`."""
    try:
        return Behaviour.parse(f"follow_every_s={_FOLLOW_EVERY_S},{os.environ.get(ENVIRONMENT, '')}")
    except HostError as error:
        raise process.ProcessError(str(error)) from error


def folder() -> Path:
    """Return the folder of the nodes of the embedded AWS in the background."""
    return process.home() / "nodes"


def clear_leftovers() -> bool:
    """Stop the nodes of a killed embedded AWS and delete their files; return whether there were any."""
    with process.sole():
        ended = sweep.sweep(folder())
        shutil.rmtree(folder(), ignore_errors=True)
    return bool(ended)


def add(command: Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    command("nodes", _nodes, "list the running nodes")
    entering = command("shell", _shell, "open a shell on a node as root, or run a command there")
    entering.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="[CLUSTER or NODE] [-- COMMAND]",
        help="instance name or id, host name or address, or cluster (its login node or controller)",
    )
    recording = command("node-health", _health, "write a record of the health-monitoring agent for a node")
    recording.add_argument("node", metavar="NODE", help="instance id of a node")
    recording.add_argument("--xid", type=int, help="number of the GPU's error (default: 79)")
    recording.add_argument("--record", metavar="JSON", help="the whole record, in place of a GPU's error")


def _health(options: argparse.Namespace) -> int:
    try:
        record = json.loads(options.record) if options.record else None
    except ValueError as error:
        raise process.ProcessError(f"--record: not JSON: {error}; pass an object") from error
    if not (record is None or isinstance(record, dict)):
        raise process.ProcessError('--record: not an object; pass e.g. \'{"msg": "text"}\'')
    order = {"node": options.node, "xid": options.xid, "record": record}
    try:
        written = process.ask("node-health", method="POST", body=order)
    except urllib.error.HTTPError as error:
        raise process.ProcessError(json.load(error)["message"]) from None
    sys.stdout.write(f"{written['stream']}: {json.dumps(written['record'])}\n")
    return 0


def _nodes(_: argparse.Namespace) -> int:
    sys.stdout.write(f"{table(_running())}\n")
    return 0


def _shell(options: argparse.Namespace) -> int:
    name, command = read(options.words)
    node = choose(_running(), name)
    if not command and sys.stdin.isatty():
        sys.stderr.write(f"root on {node['name']} ({node['host']}) of cluster {node['cluster']}; press Ctrl-D to leave\n")
    try:
        return shell.enter(Path(node["folder"]), node["id"], command)
    except HostError as error:
        raise process.ProcessError(str(error)) from error


def _running() -> list[Node]:
    nodes: list[Node] | None = process.ask("nodes")
    if nodes is None:
        raise process.ProcessError("this embedded AWS runs no nodes; start one that does with `python -m local_aws up --nodes`")
    return nodes


def read(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the name and the command from the words of the command line."""
    name = words[0] if words and words[0] != "--" else None
    rest = list(words[1:] if name else words)
    return name, rest[1:] if rest[:1] == ["--"] else rest


def choose(nodes: Sequence[Node], name: str | None) -> Node:
    """Return the node called ``name``; without a name, the first node of the only cluster."""
    if not nodes:
        raise process.ProcessError("no node is running; deploy a cluster first")
    found = [node for node in nodes if name in (node["name"], node["id"], node["host"], node["address"])]
    if not found:
        return _first_of([node for node in nodes if name in (None, node["cluster"])], nodes, name)
    if len(found) > 1:
        ids = ", ".join(f"{node['id']} of {node['cluster']}" for node in found)
        raise process.ProcessError(f"several nodes are called {name!r}; use an instance id: {ids}")
    return found[0]


def _first_of(members: Sequence[Node], nodes: Sequence[Node], name: str | None) -> Node:
    clusters = sorted({node["cluster"] for node in members})
    if not members:
        raise process.ProcessError(f"unknown node or cluster {name!r}; available:\n{table(nodes)}")
    if len(clusters) > 1:
        raise process.ProcessError(f"several clusters are running; use one of {', '.join(clusters)}")
    roles = (*_FIRST_ROLES, "compute", "")
    return min(members, key=lambda node: roles.index(node["role"]))


def table(nodes: Sequence[Node]) -> str:
    """Return the nodes as a table."""
    rows = [_COLUMNS, *(tuple(node[column] for column in _COLUMNS) for node in nodes)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_COLUMNS))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
