"""The NodeName lines of slurm.conf: what the agent left out of them about processors and GPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_node.slurm.host_list import expand

if TYPE_CHECKING:
    from hyperpod_node.node_settings import InstanceType
    from hyperpod_node.resource_config import ResourceConfig

_NODE_LINE = re.compile(r"^[ \t]*NodeName=(?!DEFAULT\b)(?P<names>\S+)[^\n]*", re.MULTILINE | re.IGNORECASE)
_OURS = ("Sockets", "CoresPerSocket", "ThreadsPerCore", "Gres")
_SHAPE = ("boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")


@dataclass(frozen=True)
class InstanceTypes:
    """Which node is of which instance type, and what is known of it."""

    by_host: dict[str, InstanceType]

    @classmethod
    def of(cls, cluster: ResourceConfig, known: dict[str, InstanceType]) -> InstanceTypes:
        """The types of a cluster's nodes, by the host names that EC2 derives from their addresses."""
        named = {f"ip-{instance.address.replace('.', '-')}": instance.instance_type for instance in cluster.instances}
        return cls({host: known[kind] for host, kind in named.items() if kind in known})

    def of_line(self, names: str) -> InstanceType | None:
        """The type of all nodes of a line; None where they are of several, or unknown."""
        kinds = {self.by_host.get(host) for host in expand(names)}
        return kinds.pop() if len(kinds) == 1 else None


def complete(text: str, types: InstanceTypes) -> str:
    """``text`` with sockets, cores and GPUs in the node lines that do not say them; what the agent says of them stays."""
    return _NODE_LINE.sub(lambda match: _complete_line(match[0], types.of_line(match["names"])), text)


def gpu_lines(text: str, types: InstanceTypes) -> list[str]:
    """What gres.conf says of the nodes with GPUs: one line for each line of theirs in ``text``, which is complete."""
    lines = []
    for match in _NODE_LINE.finditer(text):
        kind, gres = types.of_line(match["names"]), _fields(match[0]).get("gres", "")
        if kind is None or not kind.gpus or not gres.lower().startswith("gpu:"):
            continue
        model = gres.split(":")[1]
        typed = "" if model.isdigit() else f" Type={model}"
        files = "/dev/nvidia0" if kind.gpus == 1 else f"/dev/nvidia[0-{kind.gpus - 1}]"
        lines.append(f"NodeName={match['names']} Name=gpu{typed} File={files}")
    return lines


def default_line(text: str) -> str | None:
    """The shape that all nodes of ``text``, which is complete, have in common, as a default for nodes that are yet to come.

    Jobs are aborted on nodes whose sockets or GPUs are gone from slurm.conf when slurmctld reads it. As an include that comes
    before the node lines, this holds from the moment in which the agent writes them.
    """
    shapes = {tuple((key, _fields(match[0]).get(key.lower())) for key in _OURS) for match in _NODE_LINE.finditer(text)}
    if len(shapes) != 1:
        return None
    common = [f"{key}={value}" for key, value in shapes.pop() if value]
    return " ".join(["NodeName=DEFAULT", *common]) if common else None


def _complete_line(line: str, kind: InstanceType | None) -> str:
    if kind is None:
        return line
    fields = _fields(line)
    code, hash_sign, comment = line.partition("#")
    added = [*_processors(fields, kind), *_gpus(fields, kind)]
    if not added:
        return line
    return " ".join([code.rstrip(), *added]) + (f" {hash_sign}{comment}" if hash_sign else "")


def _processors(fields: dict[str, str], kind: InstanceType) -> list[str]:
    """Sockets, cores and threads, where the agent counts CPUs alone and its count fits the type."""
    if not kind.sockets or not kind.cores_per_socket or any(key in fields for key in _SHAPE):
        return []
    cores = kind.sockets * kind.cores_per_socket
    cpus = int(fields["cpus"]) if fields.get("cpus", "").isdigit() else cores
    if cpus not in (cores, 2 * cores):
        return []
    return [f"Sockets={kind.sockets}", f"CoresPerSocket={kind.cores_per_socket}", f"ThreadsPerCore={cpus // cores}"]


def _gpus(fields: dict[str, str], kind: InstanceType) -> list[str]:
    if not kind.gpus or "gres" in fields:
        return []
    return [f"Gres=gpu:{kind.gpu}:{kind.gpus}" if kind.gpu else f"Gres=gpu:{kind.gpus}"]


def _fields(line: str) -> dict[str, str]:
    pairs = (word.split("=", 1) for word in line.partition("#")[0].split() if "=" in word)
    return {key.lower(): value for key, value in pairs}
