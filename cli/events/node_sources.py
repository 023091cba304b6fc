"""Events that nodes write into log groups: the health-monitoring agent's records, and the reports of our own agent."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from cli.deployment import Deployment
from cli.events.event import Event
from cli.events.verdicts import Source
from cli.node_reports import BUNDLE, STATE, Report, json_object, log_lines, reports
from config.instance_group import Role

HEALTH_STREAMS = "SagemakerHealthMonitoringAgent/"
XID = re.compile(r"\bXid \([^)]*\): (\d+)", re.IGNORECASE)
HEALTH_PATTERN = '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }'
Problems = dict[tuple[Source, str], tuple[str, str]]
"""Source and subject of each problem, with its kind and text."""
LOW, FULL = 10.0, 5.0
"""Per cent of free space below which a file system is low, or full."""


def health_events(deployment: Deployment, cluster: Mapping[str, Any], since: datetime) -> Iterator[Event]:
    """Yield the faults that HyperPod's health-monitoring agent detected."""
    group = f"/aws/sagemaker/Clusters/{cluster['ClusterName']}/{cluster['ClusterArn'].rpartition('/')[2]}"
    lines = log_lines(deployment.client("logs"), group, since, pattern=HEALTH_PATTERN, streams=HEALTH_STREAMS)
    for line in lines:
        record = {key.strip(" :"): value for key, value in json_object(line.message).items()}
        if record.get("HealthMonitoringAgentDetectionEvent") == "HealthEvent":
            kind = _condition(record)
            details = record.get("details")
            found = (record.get("msg"), kind, details.get("message") if isinstance(details, dict) else "")
            text = ": ".join(str(each).strip() for each in found if each)
            yield Event(line.time, Source.HEALTH, kind, line.stream.rpartition("/")[2], text)


def _condition(record: Mapping[str, Any]) -> str:
    """Return the fault: `XID 79`, or else the agent's condition or reason.

    The agent writes two shapes: DCGM's (`condition`, `data`) and the kernel's (`details`, with the kernel's message).
    """
    data, details = record.get("data"), record.get("details")
    if isinstance(details, dict):
        number = XID.search(str(details.get("message")))
        return f"XID {number[1]}" if number else str(details.get("reason") or "")
    condition = str(record.get("condition") or "").strip()
    if isinstance(data, dict) and data.get("ErrNum") is not None:
        return f"{'XID' if condition.upper().startswith('XID') else condition} {data['ErrNum']}"
    return condition


def bundle_events(deployment: Deployment, since: datetime) -> Iterator[Event]:
    """Yield the scripts that nodes applied, refused or could not run."""
    for report in reports(deployment, record=BUNDLE, since=since):
        kind, step = report.text("result"), report.text("step")
        short, message = report.text("sha256")[:8], report.text("message")
        text = ": ".join(filter(None, (f"{kind} bundle {short}", step, message)))
        yield Event(report.time, Source.BUNDLE, kind, report.text("node") or report.instance, text)


def state_events(deployment: Deployment, since: datetime, *, is_first: bool = True) -> Iterator[Event]:
    """Yield changes that controllers reported: nodes that Slurm drained or lost, daemons that ended, and full file systems.

    Only controllers' streams are read: every node of a large cluster reports a state every five minutes. If ``is_first``,
    problems that the first report has already are events, too.
    """
    before: dict[str, Problems] = {}
    for group in (each.name for each in deployment.config.instance_groups if each.role is Role.CONTROLLER):
        for report in reports(deployment, record=STATE, since=since, streams=f"{group}/"):
            now = dict(_problems(report))
            if is_first or report.instance in before:
                yield from _changes(report.time, before.get(report.instance, {}), now)
            before[report.instance] = now


def _changes(time: datetime, before: Problems, now: Problems) -> Iterator[Event]:
    for (source, subject), (kind, text) in now.items():
        if before.get((source, subject), ("", ""))[0] != kind:
            yield Event(time, source, kind, subject, text)
    for source, subject in before.keys() - now.keys():
        yield Event(time, source, "available", subject, "available again")


def _problems(report: Report) -> Iterator[tuple[tuple[Source, str], tuple[str, str]]]:
    """Yield the problems of a report: source and subject, then kind and text."""
    slurm = report.slurm or {}
    for name in ("slurmctld", "slurmdbd"):
        if slurm.get(name) == 0:
            yield (Source.SLURM, name), ("daemon", f"not running on {report.text('host') or report.instance}")
    for each in slurm.get("problems") or ():
        state, reason = str(each.get("state") or ""), str(each.get("reason") or "")
        yield (Source.SLURM, str(each.get("host") or "")), (state, ": ".join(filter(None, (state, reason))))
    for disk in report.fields.get("disks") or ():
        free = disk.get("free_percent")
        if isinstance(free, int | float) and free < LOW:
            kind = "full" if free < FULL else "low"
            where = disk.get("path") or ""
            yield (Source.DISK, f"{report.text('host') or report.instance} {where}".strip()), (kind, f"{free:g} % free")
