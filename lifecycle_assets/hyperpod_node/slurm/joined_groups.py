"""Groups that joined the cluster after its controllers were set up: their partition and hardware.

A controller's settings are older than such a group, and HyperPod's agent may read the partitions only when it creates the
controller. So each worker reports both to slurmctld in its node's Extra field, and the controller's keeper reads them there.
https://slurm.schedmd.com/extra_constraints.html
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import API, InstanceType, NodeSettings, Partition
from hyperpod_node.slurm import partition_lines
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hyperpod_node.context import Context
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.system import System

EVERY_S = 5.0
TIMEOUT_S = 5.0  # the keeper waits for it
MOST_ASKED = 16  # nodes of a group
NOTHING = InstanceType(sockets=None, cores_per_socket=None, gpus=0, gpu=None, efa=False)
_ALL_NODES = "dev"  # has every node, also new ones
_EXTRA = re.compile(r"\bExtra=(\{\S*\})")
# A report becomes lines of slurm.conf on the controller: nothing else may get into them.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,255}")
_MOST = 4096


def option(context: Context, system: System) -> str:
    """Return slurmd's option that reports this node's partition and hardware; empty before Slurm 23.11, which has none."""
    slurmd = str(system.find("slurmd") or "slurmd")
    if "--extra" not in system.run(slurmd, "-h", with_errors=True):
        return ""
    # HyperPod's agent writes the partition if it configures Slurm; slurmctld does not start with two lines for one partition.
    partition = None if context.settings.slurm.setup == API else context.parameters.partitions[context.node.group]
    report = {"partition": partition} | asdict(context.hardware or NOTHING)
    text = json.dumps({key: value for key, value in report.items() if value}, separators=(",", ":"))
    return f"--extra='{text}'"


@dataclass
class JoinedGroups:
    """What workers of joined groups reported: a file in ``folder``."""

    folder: Path
    system: System
    missing: dict[str, list[str]] = field(default_factory=dict)  # by group: the hosts that could report
    next_look_s: float = 0.0

    def added_to(self, settings: NodeSettings, own: Sequence[str], cluster: ResourceConfig, conf: SlurmConf) -> NodeSettings:
        """Return the settings with the groups that joined besides the controller's ``own``; remember which have not reported."""
        reports = self._reports()
        joined = {group: hosts for group, hosts in partition_lines.hosts_by_group(cluster, conf).items() if group not in own}
        self.missing = {group: hosts for group, hosts in joined.items() if group not in reports}
        known = {group: report for group, report in reports.items() if group in joined}
        types = {instance.group: instance.instance_type for instance in cluster.instances if instance.instance_type}
        hardware = {types[group]: _hardware(report) for group, report in known.items() if group in types}
        partitions = _partitions(settings.slurm.partitions, known)
        slurm = replace(settings.slurm, partitions=partitions)
        return replace(settings, slurm=slurm, instance_types=hardware | settings.instance_types)

    def learn(self) -> None:
        """Ask slurmctld for missing reports, at most every five seconds, and write those that it has."""
        now = self.system.clock.now()
        if not self.missing or now < self.next_look_s:
            return
        self.next_look_s = now + EVERY_S
        found = {group: report for group, hosts in self.missing.items() if (report := self._report_of(hosts))}
        if found:
            put(self.file, json.dumps(self._reports() | found, indent=1) + "\n")
            print(f"groups that joined: {', '.join(sorted(found))}", flush=True)

    @property
    def file(self) -> Path:
        """Return the file of the reports."""
        return self.folder / "joined_groups.json"

    def _reports(self) -> dict[str, Any]:
        return load_object(self.file) if self.file.exists() else {}

    def _report_of(self, hosts: list[str]) -> dict[str, Any] | None:
        try:
            output = self.system.slurm(
                "scontrol", "--oneliner", "show", "node", ",".join(hosts[:MOST_ASKED]), timeout_s=TIMEOUT_S
            )
        except NodeError:  # slurmctld restarts, or does not have the node yet: the next look asks again
            return None
        return next((report for text in _EXTRA.findall(output) if (report := _checked(text))), None)


def _checked(text: str) -> dict[str, Any] | None:
    """Return a report, or None for other programs' data in the field."""
    try:
        report = json.loads(text)
    except ValueError:
        return None
    words, counts = ("partition", "gpu"), ("sockets", "cores_per_socket", "gpus")
    good = all(isinstance(report[key], str) and _WORD.fullmatch(report[key]) for key in words if key in report)
    good &= all(type(report[key]) is int and 0 < report[key] <= _MOST for key in counts if key in report)
    return {key: report[key] for key in (*words, *counts) if key in report} if good else None


def _hardware(report: dict[str, Any]) -> InstanceType:
    return replace(
        NOTHING, **{key: value for key, value in report.items() if key in ("sockets", "cores_per_socket", "gpus", "gpu")}
    )


def _partitions(partitions: tuple[Partition, ...], reports: dict[str, Any]) -> tuple[Partition, ...]:
    """Return the partitions with the joined groups in theirs."""
    groups: dict[str, tuple[str, ...]] = {}
    for group, report in reports.items():
        if (name := report.get("partition", _ALL_NODES)) != _ALL_NODES:
            groups[name] = (*groups.get(name, ()), group)
    names = {each.name for each in partitions}
    added = tuple(Partition(name, members, {}) for name, members in groups.items() if name not in names)
    return (*(_with(each, groups.get(each.name, ())) for each in partitions), *added)


def _with(partition: Partition, groups: tuple[str, ...]) -> Partition:
    """Return the partition with more groups; one without groups has the agent's nodes or all."""
    return partition if partition.groups is None else replace(partition, groups=(*partition.groups, *groups))
