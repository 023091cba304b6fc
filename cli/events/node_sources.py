"""Events of nodes: records of HyperPod's health monitoring, reports of our agent, Kubernetes and deep health checks."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from cli.deployment import Deployment, hyperpod_log_group
from cli.events.event import Event
from cli.events.verdicts import Source
from cli.node_reports import (
    BUNDLE,
    JOINING,
    RECENT,
    STATE,
    UNREGISTERED,
    Report,
    json_object,
    latest_states,
    log_lines,
    registration_due,
    reports,
)
from config.instance_group import Role
from config.operation_names import node_name

HEALTH_STREAMS = "SagemakerHealthMonitoringAgent/"
XID = re.compile(r"\bXid \([^)]*\): (\d+)", re.IGNORECASE)
HEALTH_PATTERN = '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" }'
Problem = tuple[tuple[Source, str], tuple[str, str]]
"""Source and subject, then kind and text."""
Problems = dict[tuple[Source, str], tuple[str, str]]
FULL, ROOT = 5.0, "/"
NODES = "nodes of Slurm"
NODE_EVENTS = f"/api/v1/events?fieldSelector={quote('involvedObject.kind=Node')}"
DEEP_CHECK_STREAMS = "DeepHealthCheckResults/"
_INSTANCE = re.compile(r"\bi-[0-9a-f]{8,17}\b")


def health_events(deployment: Deployment, cluster: Mapping[str, Any], since: datetime) -> Iterator[Event]:
    """Yield the faults that HyperPod's health-monitoring agent detected."""
    group = hyperpod_log_group(cluster)
    lines = log_lines(deployment.client("logs"), group, since, pattern=HEALTH_PATTERN, streams=HEALTH_STREAMS)
    for line in lines:
        record = {key.strip(" :"): value for key, value in json_object(line.message).items()}
        if record.get("HealthMonitoringAgentDetectionEvent") == "HealthEvent":
            kind = _condition(record)
            details = _details(record)
            found = (record.get("msg"), kind, "" if "type" not in details else details.get("reason"), details.get("message"))
            text = ": ".join(str(each).strip() for each in found if each)
            yield Event(line.time, Source.HEALTH, kind, line.stream.rpartition("/")[2], text)


def _condition(record: Mapping[str, Any]) -> str:
    """Return the fault: `XID 79`, a node condition with its status, or else the agent's condition or reason.

    The agent writes three shapes: DCGM's (`condition`, `data`), the kernel's (`details`, with the kernel's message), and a node
    condition's (`with condition details`).
    """
    data, details = record.get("data"), _details(record)
    number = XID.search(str(details.get("message")))
    if number:
        return f"XID {number[1]}"
    if "type" in details:
        return f"{details['type']} {details.get('status')}"
    if details:
        return str(details.get("reason") or "")
    condition = str(record.get("condition") or "").strip()
    if isinstance(data, dict) and data.get("ErrNum") is not None:
        return f"{'XID' if condition.upper().startswith('XID') else condition} {data['ErrNum']}"
    return condition


def _details(record: Mapping[str, Any]) -> Mapping[str, Any]:
    found = record.get("details") or record.get("with condition details")
    return found if isinstance(found, dict) else {}


def bundle_events(deployment: Deployment, since: datetime) -> Iterator[Event]:
    """Yield the scripts that nodes applied, refused or could not run."""
    for report in reports(deployment, record=BUNDLE, since=since):
        kind, step = report.text("result"), report.text("step")
        short, message = report.text("sha256")[:8], report.text("message")
        text = ": ".join(filter(None, (f"{kind} bundle {short}", step, message)))
        yield Event(report.time, Source.BUNDLE, kind, report.text("node") or report.instance, text)


def state_events(
    deployment: Deployment, cluster: Mapping[str, Any] | None, since: datetime, *, is_first: bool = True
) -> Iterator[Event]:
    """Yield changes that controllers reported: nodes that Slurm drained or lost, daemons that ended, and full file systems.

    Only controllers' streams are read: every node of a large cluster reports a state every five minutes. Any node can write such
    a stream, so an instance counts that HyperPod lists in the group, or one from before its last launch there. If ``is_first``,
    problems that the first report has already are events, too. Without a ``cluster``, no node can be late to register.
    """
    nodes = deployment.nodes(cluster["ClusterName"]) if cluster else ()
    groups = {each["InstanceId"]: each["InstanceGroupName"] for each in nodes}
    launched = sorted((each for each in nodes if "LaunchTime" in each), key=itemgetter("LaunchTime"))
    launches = {each["InstanceGroupName"]: each["LaunchTime"] for each in launched}
    before: dict[str, Problems] = {}
    last: Report | None = None
    low = deployment.config.monitoring.free_disk_percent
    for group in _controller_groups(deployment):
        for report in reports(deployment, record=STATE, since=since, streams=f"{group}/"):
            is_replaced = report.instance not in groups and (group not in launches or report.time < launches[group])
            if groups.get(report.instance) != group and not is_replaced:
                continue
            for source, now in _problems(report, low, before.get(NODES, {})):
                if is_first or source in before:
                    yield from _changes(report.time, before.get(source, {}), now)
                before[source] = now
            last = report if report.slurm_problems is not None and not (last and last.time > report.time) else last
    if last:
        yield from _unregistered(deployment, nodes, last, since, is_first=is_first)


def _unregistered(
    deployment: Deployment, nodes: Iterable[Mapping[str, Any]], last: Report, since: datetime, *, is_first: bool
) -> Iterator[Event]:
    """Yield the running nodes that have not registered with Slurm in time, according to the last report of a controller.

    The due time is certain only if reports before it were read. An uncertain one changes with each poll, so only the first poll
    yields it.
    """
    joining = {each.get("host") for each in last.slurm_problems or () if each.get("state") == JOINING}
    if not joining:  # reports of all nodes are read only now
        return
    states = latest_states(deployment, last.time, 2 * RECENT)
    for node in nodes:
        report, slurm = states.get(node["InstanceId"]), states.get(last.instance)
        if not report or not slurm or node["InstanceStatus"]["Status"] != "Running" or report.text("host") not in joining:
            continue
        due = registration_due(report, slurm)
        if due and (is_first or due > last.time - RECENT):
            text = f"{UNREGISTERED}: {report.registration}"
            yield Event(max(due, since) if is_first else due, Source.SLURM, UNREGISTERED, report.text("host"), text)


def disk_events(deployment: Deployment, since: datetime, *, is_first: bool = True) -> Iterator[Event]:
    """Yield root volumes of other nodes that are almost full.

    CloudWatch Logs returns only the reports of such nodes, so there is no event when the volume has space again. A report
    within 15 minutes of the last one with the same problem is no event.
    """
    low, controllers = deployment.config.monitoring.free_disk_percent, _controller_groups(deployment)
    start, condition = since if is_first else since - RECENT, f"$.disks[0].free_percent < {low:g}"
    before: dict[str, tuple[datetime, str]] = {}
    for report in reports(deployment, record=STATE, since=start, condition=condition):
        free = dict(report.low_disks(low)).get(ROOT)
        if free is None or report.text("group") in controllers:
            continue
        (source, subject), (kind, text) = _disk(report, ROOT, free)
        time, last = before.get(subject, (report.time, ""))
        if kind != last or report.time - time > RECENT:
            yield Event(report.time, source, kind, subject, text)
        before[subject] = report.time, kind


def _controller_groups(deployment: Deployment) -> list[str]:
    return [each.name for each in deployment.config.instance_groups if each.role is Role.CONTROLLER]


def _changes(time: datetime, before: Problems, now: Problems) -> Iterator[Event]:
    for (source, subject), (kind, text) in now.items():
        if before.get((source, subject), ("", ""))[0] != kind:
            yield Event(time, source, kind, subject, text)
    for source, subject in before.keys() - now.keys():
        yield Event(time, source, "available", subject, "available again")


def _problems(report: Report, low: float, known: Problems) -> Iterator[tuple[str, Problems]]:
    """Yield the problems of the controller itself, and those of Slurm's nodes, which all controllers share.

    A report without problems of nodes is left out, because slurmctld did not answer. Problems that a full report has no
    place for stay ``known``.
    """
    yield report.instance, dict(_of_controller(report, low))
    if report.slurm_problems is not None:
        nodes = dict(map(_slurm_node, report.slurm_problems))
        yield NODES, nodes if report.lists_all_problems else known | nodes


def _of_controller(report: Report, low: float) -> Iterator[Problem]:
    for name in ("slurmctld", "slurmdbd"):
        if (report.slurm or {}).get(name) == 0:
            yield (Source.SLURM, name), ("daemon", f"not running on {report.text('host') or report.instance}")
    for path, free in report.low_disks(low):
        yield _disk(report, path, free)


def _slurm_node(node: Mapping[str, Any]) -> Problem:
    state, reason = str(node.get("state") or ""), str(node.get("reason") or "")
    return (Source.SLURM, str(node.get("host") or "")), (state, ": ".join(filter(None, (state, reason))))


def _disk(report: Report, path: str, free: float) -> Problem:
    subject = f"{report.text('host') or report.instance} {path}".strip()
    return (Source.DISK, subject), ("full" if free < FULL else "low", f"{free:g} % free")


def kubernetes_events(deployment: Deployment) -> Iterator[Event]:
    """Yield the events of nodes, which Kubernetes keeps for an hour; repeated ones have the time of the last."""
    with deployment.kubernetes() as client:
        for each in client.items(NODE_EVENTS):
            involved, time = each.get("involvedObject") or {}, _time(each)
            name = str(involved.get("name") or "")
            if time and involved.get("kind") == "Node" and name.startswith(node_name("i-")):
                count = each.get("count") or 1
                text = f"{each.get('reason')}: {each.get('message') or ''}{f' ({count} times)' if count > 1 else ''}"
                kind = f"{each.get('type') or 'Normal'} {each.get('reason')}"
                yield Event(time, Source.KUBERNETES, kind, name.removeprefix(node_name("")), text)


def deep_check_events(deployment: Deployment, cluster: Mapping[str, Any], since: datetime) -> Iterator[Event]:
    """Yield the results of deep health checks; the subject is the instance that the message names, or else the stream's."""
    for line in log_lines(deployment.client("logs"), hyperpod_log_group(cluster), since, streams=DEEP_CHECK_STREAMS):
        record = json_object(line.message)
        text = str(record.get("msg") or line.message)
        named = _INSTANCE.search(text) or _INSTANCE.search(line.stream)
        yield Event(line.time, Source.DEEP_CHECK, str(record.get("level") or "info"), named[0] if named else "", text)


def _time(event: Mapping[str, Any]) -> datetime | None:
    """Return the time of the last occurrence; clients of two APIs write it into different fields."""
    series = event.get("series") or {}
    created = (event.get("metadata") or {}).get("creationTimestamp")
    found = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or created
    return datetime.fromisoformat(str(found).replace("Z", "+00:00")).astimezone(UTC) if found else None
