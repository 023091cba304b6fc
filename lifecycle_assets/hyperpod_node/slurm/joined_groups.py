"""Hardware of all groups as their workers report it, and the partitions of groups that joined after the controllers' set-up.

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
    from pathlib import Path

    from hyperpod_node.context import Context
    from hyperpod_node.provisioning_parameters import ProvisioningParameters
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.system import System

FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 60.0
TIMEOUT_S = 5.0  # the keeper waits for it
NOTHING = InstanceType(sockets=None, cores_per_socket=None, gpus=0, gpu=None, efa=False)
_ALL_NODES = "dev"  # has every node, also new ones
_NAME, _EXTRA = re.compile(r"\bNodeName=(\S+)"), re.compile(r"\bExtra=(\{\S*\})")
# A report becomes lines of slurm.conf on the controller: nothing else may get into them.
_WORD = re.compile(r"(?!DEFAULT$)[A-Z0-9][A-Z0-9._-]{0,255}", re.ASCII | re.IGNORECASE)  # Slurm gives DEFAULT a meaning
_MOST, _MOST_MIB = 4096, 1 << 26
_WORDS = ("partition", "gpu")
_COUNTS = ("sockets", "cores_per_socket", "threads_per_core", "gpus", "real_memory_mib")
_USED_PERCENT = 95  # slurmctld drains a node that registers with less memory than configured: kernels may differ a little


def option(context: Context, system: System) -> str:
    """Return slurmd's option that reports this node's partition and hardware; empty before Slurm 23.11, which has none."""
    slurmd = str(system.find("slurmd") or "slurmd")
    if "--extra" not in system.run(slurmd, "-h", with_errors=True):
        return ""
    # HyperPod's agent writes the partition if it configures Slurm; slurmctld does not start with two lines for one partition.
    partition = None if context.settings.slurm.setup == API else context.parameters.partitions[context.node.group]
    report = {"partition": partition} | asdict(context.hardware or NOTHING) | _measured(slurmd, system)
    text = json.dumps({key: value for key, value in report.items() if value}, separators=(",", ":"))
    return f"--extra='{text}'"


def _measured(slurmd: str, system: System) -> dict[str, int]:
    """Return this node's processors and memory for Slurm, as slurmd finds them."""
    try:
        printed = system.run(slurmd, "-C")
    except NodeError as error:
        print(f"warning: slurm.conf gets neither memory nor processors of this node from slurmd: {error}")
        return {}
    found = {key.lower(): int(value) for key, value in re.findall(r"\b([A-Za-z]+)=(\d+)", printed)}
    measured = {
        "sockets": found.get("boards", 1) * found.get("socketsperboard", 0),
        "cores_per_socket": found.get("corespersocket", 0),
        "threads_per_core": found.get("threadspercore", 0),
        "real_memory_mib": found.get("realmemory", 0) * _USED_PERCENT // 100,
    }
    return {key: value for key, value in measured.items() if value}


@dataclass
class JoinedGroups:
    """What workers reported: a file in ``folder``, with the instance that reported last.

    Memory is used at once, other hardware once no job runs in the group: slurmctld aborts jobs if sockets or GPUs change.
    """

    folder: Path
    system: System
    missing: dict[str, dict[str, str]] = field(default_factory=dict)  # by group: hosts that could report, and their instances
    next_look_s: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    types: dict[str, str] = field(default_factory=dict)  # by group
    problem: str = ""

    def added_to(
        self, settings: NodeSettings, own: ProvisioningParameters, cluster: ResourceConfig, conf: SlurmConf
    ) -> NodeSettings:
        """Return the settings, completed with reports of the controller's ``own`` and joined groups; remember missing reports.

        A report is used while its group exists, also without nodes: slurmctld ends the jobs of a partition that disappears.
        """
        entries = {group: entry for group, entry in self._entries().items() if group in cluster.groups}
        self._expect(_listed(own, cluster, conf), entries)
        types = {instance.group: instance.instance_type for instance in cluster.instances if instance.instance_type}
        hardware = {
            group: _completed(settings.instance_types.get(types[group]), entry)
            for group, entry in entries.items()
            if entry["instance_type"] == types.get(group)
        }
        reports = {group: entry["report"] for group, entry in entries.items() if group not in own.groups}
        slurm = replace(settings.slurm, partitions=_partitions(settings.slurm.partitions, reports))
        self.types = types
        return replace(settings, slurm=slurm, instance_types=settings.instance_types | hardware)

    def learn(self) -> None:
        """Ask slurmctld for missing reports, first every five seconds and later every minute, and write those that it has."""
        now = self.system.clock.now()
        if not self.missing or now < self.next_look_s:
            return
        self.next_look_s, self.pause_s = now + self.pause_s, min(2 * self.pause_s, LONGEST_PAUSE_S)
        before, shown = self._entries(), self._shown()
        found = {group: entry for group in self.missing if (entry := self._entry_of(group, before.get(group, {}), shown))}
        if before | found != before:
            put(self.file, json.dumps(before | found, indent=1) + "\n")
            print(f"groups that reported: {', '.join(sorted(found))}", flush=True)

    @property
    def file(self) -> Path:
        """Return the file of the reports."""
        return self.folder / "joined_groups.json"

    def _expect(self, listed: dict[str, dict[str, str]], entries: dict[str, Any]) -> None:
        """Remember the groups without a report of a current node, or of its memory, and those whose hardware is not used yet.

        A worker reports no memory before a deployment has changed its scripts, or if `slurmd -C` failed.
        """
        before, self.missing = self.missing, {}
        for group, hosts in listed.items():
            entry = entries.get(group, {})
            is_whole = entry.get("hardware") and "real_memory_mib" in entry["report"]
            if not is_whole or entry["instance"] not in hosts.values():
                self.missing[group] = hosts
        if self.missing != before:
            self.next_look_s, self.pause_s = 0.0, FIRST_PAUSE_S

    def _entries(self) -> dict[str, Any]:
        """Return what the file has; without a readable file, the nodes are asked again."""
        try:
            entries, self.problem = (load_object(self.file) if self.file.exists() else {}), ""
        except NodeError as error:
            if str(error) != self.problem:  # only once
                print(f"the reports of joined groups are read again from their nodes: {error}", flush=True)
            entries, self.problem = {}, str(error)
        return entries

    def _shown(self) -> dict[str, dict[str, Any]]:
        """Return the reports by node. Names no node: scontrol fails for one that slurmctld does not know yet."""
        try:
            lines = self.system.slurm("scontrol", "--oneliner", "show", "node", timeout_s=TIMEOUT_S).splitlines()
        except NodeError:  # slurmctld restarts
            return {}
        found = ((_NAME.search(line), _EXTRA.search(line)) for line in lines)
        return {name[1]: report for name, extra in found if name and extra and (report := _checked(extra[1])) is not None}

    def _entry_of(self, group: str, before: dict[str, Any], shown: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
        """Return the report of one of a group's nodes; None if no node has reported. Hardware stays as jobs use it."""
        hosts, kind = self.missing[group], self.types.get(group, "")
        name = next((host for host in hosts if host in shown), None)
        if name is None:
            return None
        report, is_free = shown[name], self._is_free(hosts)
        is_used = bool(before.get("hardware")) and before["instance_type"] == kind
        if is_used and not is_free:
            report = before["report"] | {key: report[key] for key in ("partition", "real_memory_mib") if key in report}
        return {"instance": hosts[name], "instance_type": kind, "report": report, "hardware": is_used or is_free}

    def _is_free(self, hosts: dict[str, str]) -> bool:
        """Return whether no job runs on these nodes."""
        try:
            return not self.system.slurm("squeue", "--noheader", f"--nodelist={','.join(hosts)}", timeout_s=TIMEOUT_S).strip()
        except NodeError:
            return False


def _listed(own: ProvisioningParameters, cluster: ResourceConfig, conf: SlurmConf) -> dict[str, dict[str, str]]:
    """Return the hosts of groups of workers that slurm.conf has, each with its instance."""
    instances = {instance.host: instance.instance_id for instance in cluster.instances}
    others = (own.controller_group, own.login_group)
    by_group = partition_lines.hosts_by_group(cluster, conf)
    return {group: {host: instances[host] for host in hosts} for group, hosts in by_group.items() if group not in others}


def _checked(text: str) -> dict[str, Any] | None:
    """Return a report, or None for other programs' data in the field."""
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return None
    most = {"real_memory_mib": _MOST_MIB}
    good = all(isinstance(report[key], str) and _WORD.fullmatch(report[key]) for key in _WORDS if key in report)
    good &= all(type(report[key]) is int and 0 < report[key] <= most.get(key, _MOST) for key in _COUNTS if key in report)
    return {key: report[key] for key in (*_WORDS, *_COUNTS) if key in report} if good else None


def _completed(known: InstanceType | None, entry: dict[str, Any]) -> InstanceType:
    """Return the hardware of the settings, with the usable part of the report where it is unknown."""
    report = {key: value for key, value in entry["report"].items() if entry["hardware"] or key == "real_memory_mib"}
    hardware = known or replace(NOTHING, gpus=report.get("gpus", 0))
    gaps = {key: report[key] for key in ("gpu", *_COUNTS) if key in report and getattr(hardware, key) is None}
    return replace(hardware, **gaps)


def _partitions(partitions: tuple[Partition, ...], reports: dict[str, Any]) -> tuple[Partition, ...]:
    """Return the partitions with the joined groups in theirs."""
    groups: dict[str, tuple[str, ...]] = {}
    for group, report in reports.items():
        if (name := report.get("partition", _ALL_NODES)) != _ALL_NODES:
            groups[name] = (*groups.get(name, ()), group)
    names = {each.name for each in partitions}
    # With an option it is written also without nodes.
    added = tuple(Partition(name, own, {"State": "UP"}) for name, own in groups.items() if name not in names)
    # One without groups has the agent's nodes or all.
    members = {each.name: (*each.groups, *groups.get(each.name, ())) for each in partitions if each.groups is not None}
    return (*(replace(each, groups=members.get(each.name)) for each in partitions), *added)
