"""Complete the PartitionName lines of slurm.conf: limits, and partitions that the agent does not write.

slurmctld does not start if two lines have the same partition, so a line of the agent is replaced where it stands: when the agent
rewrites its lines, ours go with it. Partitions of our own are in the managed block, which stays: slurmctld ends the jobs of a
partition that disappears.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.slurm.slurm_conf import COMMENTED_OUT, COMPLETED, expand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hyperpod_node.node_settings import Partition
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.slurm.slurm_conf import SlurmConf

_LINE = re.compile(r"^[ \t]*PartitionName=(?!DEFAULT(?:[\s#]|$))(?P<name>[^\s#]+)[^\n]*$", re.MULTILINE | re.IGNORECASE)
_ALL = "ALL"
_KEYS = ("PartitionName", "Nodes", "Default", "MaxTime", "PriorityTier", "PriorityJobFactor", "QOS", "AllowAccounts", "State")
_SPELLING = {key.lower(): key for key in _KEYS}


def hosts_by_group(cluster: ResourceConfig, conf: SlurmConf) -> dict[str, list[str]]:
    """Return the host names of each group's nodes that slurm.conf has; slurmctld does not start with an unknown node."""
    known = set(conf.nodes)
    hosts: dict[str, list[str]] = {}
    for instance in cluster.instances:
        if instance.host in known:
            hosts.setdefault(instance.group, []).append(instance.host)
    return hosts


def complete(text: str, partitions: Sequence[Partition], hosts: Mapping[str, list[str]]) -> tuple[str, list[str]]:
    """Return ``text`` with its partitions completed, and the lines of the others; ``SlurmConf.parse`` restores the agent's."""
    by_name = {partition.name: partition for partition in partitions}
    default = next((each.name for each in partitions if "Default" in each.options), None)

    def completed(match: re.Match[str]) -> str:
        given = _fields(match[0])
        fields = _completed(given, by_name.get(match["name"]), hosts)
        if default not in (None, match["name"]):
            fields.pop("Default", None)
        return match[0] if fields == given else f"{_line(fields)} {COMPLETED}\n{COMMENTED_OUT}{match[0]}"

    found = {match["name"] for match in _LINE.finditer(text)}
    others = [each for each in partitions if each.name not in found and (each.options or _hosts(each, hosts))]
    lines = [_line(_completed({"PartitionName": each.name}, each, hosts)) for each in others]
    return _LINE.sub(completed, text), lines


def _completed(given: dict[str, str], partition: Partition | None, hosts: Mapping[str, list[str]]) -> dict[str, str]:
    if partition is None:
        return dict(given)
    nodes = _nodes(given.get("Nodes"), partition, hosts)
    fields = {key: value for key, value in given.items() if key != "Nodes"}
    return fields | ({"Nodes": nodes} if nodes else {}) | partition.options


def _nodes(given: str | None, partition: Partition, hosts: Mapping[str, list[str]]) -> str | None:
    """Return the partition's nodes: the agent's and those of its groups, or only these if the agent gives it all nodes."""
    if partition.groups is None:
        return given or _ALL
    agents = [] if given is None or given.upper() == _ALL else expand(given)
    missing = [host for host in _hosts(partition, hosts) if host not in agents]
    if agents and not missing:
        return given
    return ",".join([*agents, *missing]) or None


def _hosts(partition: Partition, hosts: Mapping[str, list[str]]) -> list[str]:
    return [host for group in partition.groups or () for host in hosts.get(group, [])]


def _fields(line: str) -> dict[str, str]:
    """Return the keys and values of a line; keys that this module uses get its spelling, as Slurm ignores case."""
    pairs = (word.split("=", 1) for word in line.partition("#")[0].split() if "=" in word)
    return {_SPELLING.get(key.lower(), key): value for key, value in pairs}


def _line(fields: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in fields.items())
