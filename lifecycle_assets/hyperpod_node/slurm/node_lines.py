"""Complete the NodeName lines of slurm.conf with processors, memory and GPUs that the agent omits, and leave out login nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hyperpod_node.slurm.slurm_conf import COMMENTED_OUT, COMPLETED, expand

if TYPE_CHECKING:
    from collections.abc import Set

    from hyperpod_node.node_settings import InstanceType
    from hyperpod_node.resource_config import ResourceConfig

_NODE_LINE = re.compile(r"^[ \t]*NodeName=(?!DEFAULT\b)(?P<names>\S+)[^\n]*", re.MULTILINE | re.IGNORECASE)
_NAMES = re.compile(
    r"^[ \t]*NodeName=(?!DEFAULT\b)(?P<names>[^\s#]+)[^\n]*|^[ \t]*PartitionName=[^\n#]*?\bNodes=(?P<nodes>[^\s#]+)[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
OURS = ("Sockets", "CoresPerSocket", "ThreadsPerCore", "Gres", "RealMemory")
# For example `Gres=gpu:8,file=/dev/nvidia-[0-7]`, which some of HyperPod's images have:
# https://github.com/awslabs/ai-on-sagemaker-hyperpod/blob/main/website/docs/08-Tips/Slurm/08-gres.md
_FILES = re.compile(r"(\bGres=[^\s#]*?),file=[^\s#]*", re.IGNORECASE)
_GPU_LINE = re.compile(r"[ \t]*([^#]*[ \t])?Name=gpu\b", re.IGNORECASE)
_SHAPE = ("boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")


@dataclass(frozen=True)
class InstanceTypes:
    """The instance type of each node, if it is known."""

    by_host: dict[str, InstanceType]

    @classmethod
    def of(cls, cluster: ResourceConfig, known: dict[str, InstanceType]) -> InstanceTypes:
        """Return the types of a cluster's nodes by host name; what a group reported, by its name, counts before its type."""
        kinds = {each.host: known.get(each.group) or known.get(each.instance_type) for each in cluster.instances}
        return cls({host: kind for host, kind in kinds.items() if kind})

    def of_line(self, names: str) -> InstanceType | None:
        """Return the type of all nodes of a line; None if they have several types or an unknown one."""
        kinds = {self.by_host.get(host) for host in expand(names)}
        return kinds.pop() if len(kinds) == 1 else None


def of_gres_conf(known: dict[str, InstanceType], gres_conf: str) -> dict[str, InstanceType]:
    """Return ``known`` types, without their GPU models if the agent's gres.conf has GPUs without one.

    slurmctld drains a node that registers GPUs without a model if its line has one.
    """
    gpus = [line for line in gres_conf.splitlines() if _GPU_LINE.match(line)]
    if any("type=" not in line.lower() for line in gpus):
        return {name: replace(kind, gpu=None) for name, kind in known.items()}
    return known


def complete(text: str, types: InstanceTypes) -> str:
    """Return ``text`` with the sockets, cores, memory and GPUs that its node lines lack; keep what the agent wrote."""
    return _NODE_LINE.sub(lambda match: _complete_line(_without_files(match[0]), types.of_line(match["names"])), text)


def without_login_nodes(text: str, hosts: Set[str]) -> str:
    """Return slurm.conf without ``hosts`` in its nodes and partitions; ``SlurmConf.parse`` restores the agent's lines.

    HyperPod's agent may list login nodes there, and so in the partition of all nodes. They run no slurmd, so they would be down
    forever, and their shape would hide the one that all workers share.
    """

    def without(match: re.Match[str]) -> str:
        group = "names" if match["names"] else "nodes"
        names = expand(match[group])
        kept = [name for name in names if name not in hosts]
        if len(kept) == len(names):
            return match[0]
        start, end = (place - match.start() for place in match.span(group))
        if not kept and group == "nodes":  # the partition stays, because slurmctld ends the jobs of one that disappears
            start -= len(" Nodes=")
        code = f"{match[0][:start]}{','.join(kept)}{match[0][end:]}".partition("#")[0].rstrip()
        return (f"{code} {COMPLETED}\n" if kept or group == "nodes" else "") + COMMENTED_OUT + match[0]

    return _NAMES.sub(without, text) if hosts else text


def gpu_lines(text: str, types: InstanceTypes) -> list[str]:
    """Return the lines of gres.conf for the completed node lines of ``text``.

    If all nodes have the same GPUs, one line without NodeName also covers nodes that join later: slurmctld drains a node that
    registers before gres.conf names its GPUs. In other clusters, slurmd would not start on nodes without these devices.
    """
    by_names = {match["names"]: _gpu_line(match, types) for match in _NODE_LINE.finditer(text)}
    lines = {line for line in by_names.values() if line}
    if len(lines) == 1 and all(by_names.values()):
        return list(lines)
    return [f"NodeName={names} {line}" for names, line in by_names.items() if line]


def default_line(text: str) -> str | None:
    """Return the shape that all completed nodes of ``text`` share, as a default for nodes that join later.

    slurmctld aborts the jobs on a node that has lost its sockets or GPUs in slurm.conf. The default is included before the node
    lines, so it applies as soon as the agent writes them.
    """
    shapes = {tuple((key, _fields(match[0]).get(key.lower())) for key in OURS) for match in _NODE_LINE.finditer(text)}
    if len(shapes) != 1:
        return None
    common = [f"{key}={value}" for key, value in shapes.pop() if value]
    return " ".join(["NodeName=DEFAULT", *common]) if common else None


def _gpu_line(match: re.Match[str], types: InstanceTypes) -> str | None:
    """Return gres.conf's line for a node line, without NodeName; None if the node has no GPUs or several types of them."""
    kind = types.of_line(match["names"])
    words = [word.split(":") for word in _fields(match[0]).get("gres", "").split(",")]
    gpus = [word for word in words if word[0].lower() == "gpu"]
    if kind is None or not kind.gpus or len(gpus) != 1:
        return None
    model = gpus[0][1] if len(gpus[0]) > 1 else ""
    typed = "" if not model or model.isdigit() else f" Type={model}"
    files = "/dev/nvidia0" if kind.gpus == 1 else f"/dev/nvidia[0-{kind.gpus - 1}]"
    return f"Name=gpu{typed} File={files}"


def _without_files(line: str) -> str:
    """Return a node line without ``,file=...`` in its Gres, which slurmctld reports as an error: files belong in gres.conf."""
    return _FILES.sub(r"\1", line)


def _complete_line(line: str, kind: InstanceType | None) -> str:
    if kind is None:
        return line
    fields = _fields(line)
    code, hash_sign, comment = line.partition("#")
    added = [*_processors(fields, kind), *_gpus(fields, kind), *_memory(fields, kind)]
    if not added:
        return line
    return " ".join([code.rstrip(), *added]) + (f" {hash_sign}{comment}" if hash_sign else "")


def _processors(fields: dict[str, str], kind: InstanceType) -> list[str]:
    """Return sockets, cores and threads if the agent wrote only CPUs and their number fits the type."""
    if not kind.sockets or not kind.cores_per_socket or any(key in fields for key in _SHAPE):
        return []
    cores = kind.sockets * kind.cores_per_socket
    cpus = int(fields["cpus"]) if fields.get("cpus", "").isdigit() else cores * (kind.threads_per_core or 1)
    if cpus not in (cores, 2 * cores):
        return []
    return [f"Sockets={kind.sockets}", f"CoresPerSocket={kind.cores_per_socket}", f"ThreadsPerCore={cpus // cores}"]


def _gpus(fields: dict[str, str], kind: InstanceType) -> list[str]:
    if not kind.gpus or "gres" in fields:
        return []
    return [f"Gres=gpu:{kind.gpu}:{kind.gpus}" if kind.gpu else f"Gres=gpu:{kind.gpus}"]


def _memory(fields: dict[str, str], kind: InstanceType) -> list[str]:
    """Return the memory if the agent wrote none: without it, slurmctld rejects all jobs with --mem."""
    return [f"RealMemory={kind.real_memory_mib}"] if kind.real_memory_mib and "realmemory" not in fields else []


def _fields(line: str) -> dict[str, str]:
    pairs = (word.split("=", 1) for word in line.partition("#")[0].split() if "=" in word)
    return {key.lower(): value for key, value in pairs}
