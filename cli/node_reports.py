"""The reports of the nodes' agents: JSON lines in the log group of the deployment, one stream per node."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cli.aws_errors import unless_absent
from cli.deployment import Deployment
from cli.pages import listed
from cli.resource_code import own_records
from config.instance_group import Role
from config.operation_names import node_log_group

RECENT = timedelta(minutes=15)
"""A node without a report in this time counts as a node without an agent: agents report every five minutes."""
FRESH = timedelta(minutes=3)
"""Age above which it is shown: controllers report every minute."""
STATE, BUNDLE = "state", "bundle"
JOINING, UNREGISTERED = "joining", "unregistered"
"""A node that has not registered with slurmctld yet, and one that should have."""
LATE = timedelta(minutes=8)
"""Time to register: more than slurmctld's SlurmdTimeout (5 minutes), and less than the reports of the last 15 minutes span."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")  # GROUP-NUMBER


@dataclass(frozen=True)
class Report:
    """One record of a node's agent."""

    time: datetime
    fields: Mapping[str, Any]
    since: datetime | None = None
    """Since when the node's Slurm daemon is in its state; at most as old as the reports that were read."""

    @property
    def daemon(self) -> str:
        """Return the state of slurmctld or slurmd on the node; empty if unknown."""
        services = self.fields.get("services") or {}
        return str(services.get("slurmctld") or services.get("slurmd") or "")

    @property
    def registration(self) -> str:
        """Return why the node is `unregistered`."""
        return f"slurmd ({self.daemon or 'unknown'}) has not registered with slurmctld"

    @property
    def instance(self) -> str:
        """Return the instance id of the node."""
        return str(self.fields["instance"])

    def text(self, name: str) -> str:
        """Return a field as text; empty if it is missing or null."""
        value = self.fields.get(name)
        return "" if value is None else str(value)

    @property
    def slurm(self) -> Mapping[str, Any] | None:
        """Return what Slurm's controller says; None on other nodes."""
        found = self.fields.get("slurm")
        return found if isinstance(found, dict) else None

    @property
    def slurm_problems(self) -> list[Mapping[str, Any]] | None:
        """Return the nodes that Slurm calls a problem; None if slurmctld did not answer."""
        found = (self.slurm or {}).get("problems")
        return list(found) if isinstance(found, list) else None

    @property
    def lists_all_problems(self) -> bool:
        """Return whether no problem is left out: a report has at most 50."""
        slurm, problems = self.slurm or {}, self.slurm_problems
        return problems is not None and (slurm.get("drained") or 0) + (slurm.get("down") or 0) <= len(problems)

    def low_disks(self, below_percent: float) -> list[tuple[str, float]]:
        """Return path and free per cent of the file systems with less free space."""
        disks = ((str(disk.get("path") or ""), disk.get("free_percent")) for disk in self.fields.get("disks") or ())
        return [(path, float(free)) for path, free in disks if isinstance(free, int | float) and free < below_percent]


def reports(deployment: Deployment, *, record: str, since: datetime, streams: str = "", condition: str = "") -> Iterator[Report]:
    """Yield the records of a kind that nodes wrote about themselves since a time, oldest first.

    ``streams`` is a prefix, such as a group with a slash. CloudWatch Logs returns only records that match ``condition``.
    """
    client, group = deployment.client("logs"), node_log_group(deployment.config.name)
    pattern = f'{{ $.record = "{record}"{f" && {condition}" if condition else ""} }}'
    found = own_records(_log_events(client, group, since, pattern, streams), _milliseconds(since))
    for time, fields in sorted(found, key=lambda each: each[0]):
        if fields.get("record") == record:
            yield Report(_time(time), fields)


def latest_states(deployment: Deployment, now: datetime, span: timedelta = RECENT) -> dict[str, Report]:
    """Return the latest recent state of each node that reported one, by instance id."""
    found: dict[str, Report] = {}
    for report in reports(deployment, record=STATE, since=now - span):
        before = found.get(report.instance)
        is_same = before is not None and _steady(before) == _steady(report)
        found[report.instance] = replace(report, since=before.since if before and is_same else report.time)
    return found


def _steady(report: Report) -> str:
    """Return the state of the daemon; one that ends and starts again and again is `activating` in some reports."""
    return "active" if report.daemon == "activating" else report.daemon


def registration_due(node: Report | None, slurm: Report) -> datetime | None:
    """Return when a joining node should have registered; None if that is not over or unknown.

    The time runs from the node's own reports, which begin when its scripts end: LaunchTime is hours before in a deep health
    check, and much before after long scripts. It begins again when slurmd, slurmctld or the controller starts.
    """
    if node is None or node.since is None or slurm.since is None:
        return None
    due = max(node.since, slurm.since) + LATE
    return due if due <= slurm.time else None


def reported_names(deployment: Deployment, groups: Mapping[str, str], now: datetime) -> dict[str, str]:
    """Return HyperPod's names by instance id, for the nodes in ``groups``, which has their groups by instance id.

    Root on a node can report any name, to receive commands for another node. So a name must be GROUP-NUMBER of the node's own
    group, and only one node may report it.
    """
    names = {instance: report.text("node") for instance, report in latest_states(deployment, now).items() if instance in groups}
    count = Counter(names.values())
    own = {instance: rf"{re.escape(groups[instance])}-[0-9]{{1,9}}" for instance in names}
    return {each: name for each, name in names.items() if count[name] == 1 and re.fullmatch(own[each], name)}


def hyperpod_names(resource_config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the instance id and the name of each node; HyperPod writes null for a group without nodes."""
    for group in resource_config["InstanceGroups"]:
        for instance in group["Instances"] or ():
            if _NAME.fullmatch(instance["InstanceName"]):  # root on the controller can write the file
                yield instance["InstanceId"], instance["InstanceName"]


def reporters(deployment: Deployment) -> set[str]:
    """Return the instance ids of all nodes that have ever reported; empty if the log group does not exist."""
    group = node_log_group(deployment.config.name)
    streams = unless_absent(lambda: list(deployment.all("logs", "describe_log_streams", "logStreams", logGroupName=group)))
    return {stream["logStreamName"].rpartition("/")[2] for stream in streams or ()}


def controller_state(states: Mapping[str, Report], roles: Mapping[str, str]) -> Report | None:
    """Return a controller's latest state with Slurm's view; None without one.

    ``roles`` are those of HyperPod's nodes, by instance id: any node can write a stream with the name of another group.
    """
    found = (each for each in states.values() if each.slurm and roles.get(each.instance) == Role.CONTROLLER.value)
    return max(found, key=lambda each: each.time, default=None)


@dataclass(frozen=True)
class LogLine:
    """A line of a log stream."""

    stream: str
    time: datetime
    message: str


def log_lines(client: Any, group: str, since: datetime, *, pattern: str = "", streams: str = "") -> Iterator[LogLine]:
    """Yield the lines of a log group since a time, oldest first; none if the group does not exist."""
    found = _log_events(client, group, since, pattern, streams)
    lines = (LogLine(each["logStreamName"], _time(each["timestamp"]), each["message"]) for each in found)
    yield from sorted(lines, key=lambda line: line.time)


def _log_events(client: Any, group: str, since: datetime, pattern: str, streams: str) -> list[dict[str, Any]]:
    asked: dict[str, Any] = {"logGroupName": group, "startTime": _milliseconds(since)}
    asked |= {**({"filterPattern": pattern} if pattern else {}), **({"logStreamNamePrefix": streams} if streams else {})}
    found = unless_absent(lambda: list(listed(client, "filter_log_events", "events", **asked))) or ()
    return [each for each in found if each["logStreamName"].startswith(streams)]


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a log line; empty for any other line."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return line if isinstance(line, dict) else {}


def age(since: datetime, now: datetime) -> str:
    """Return a duration as people say it: 40 s, 12 min, 3 h, 2 d."""
    seconds = max(0, int((now - since).total_seconds()))
    for limit, unit, size in ((120, "s", 1), (7_200, "min", 60), (172_800, "h", 3_600)):
        if seconds < limit:
            return f"{seconds // size} {unit}"
    return f"{seconds // 86_400} d"
