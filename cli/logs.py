"""`./hpod logs CLUSTER [NODE]`: what HyperPod logged for nodes, also for nodes and clusters that no longer exist.

HyperPod's log groups outlive their clusters, also clusters that could not be created.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_directory import node_directory, node_names
from cli.node_reports import Report, latest_states
from cli.pages import listed
from cli.parts import Parts
from cli.result import Json, Result, Show, Table, Verbatim, ignore
from config.operation_names import node_name

LIFECYCLE, DEEP_HEALTH = "lifecycle", "deep-health"
STREAMS = {LIFECYCLE: "LifecycleConfig/", "health": "SagemakerHealthMonitoringAgent/", DEEP_HEALTH: "DeepHealthCheckResults/"}
"""The prefix of the streams of each kind of log: KIND/GROUP/INSTANCE, but KIND/ID for deep health checks of many nodes."""
POLL_S = 2
GENERATED = "-[0-9a-f]{12}"
"""What a generated name ends in: of the custom resource, and of CloudFormation's own."""


@dataclass(frozen=True)
class NodeLog:
    """A log stream; ``number`` counts a group's nodes in the order of their first line."""

    stream: str
    group: str
    instance: str
    number: int
    last: datetime | None

    @property
    def name(self) -> str:
        """The name in the list of a node whose agent reports none; of results of deep health checks, their id.

        HyperPod numbers nodes otherwise: `workers#1` may be `workers-3`.
        """
        return f"{self.group}#{self.number}" if self.group else self.instance


def logs(
    deployment: Deployment,
    *,
    node: str | None = None,
    kind: str = LIFECYCLE,
    follow: bool = False,
    show: Show = ignore,
    sleep: Callable[[float], None] = time.sleep,
) -> Result:
    """Show the lines of a node's log as they come; without a node, return the list of logs."""
    client = deployment.client("logs")
    group = _log_group(client, deployment)
    found = _node_logs(client, group, STREAMS[kind])
    if node is None:
        return _listed(deployment, group, found, kind)
    parts = Parts("logs")
    chosen, names = _chosen(deployment, found, node, kind, parts)
    lines = []
    for line in _lines(client, group, chosen.stream, sleep if follow else None):
        show(Verbatim(line))
        if not follow:  # which never ends
            lines.append(line)
    data = {"log_group": group, "kind": kind, "stream": chosen.stream, "node": names, "lines": lines}
    return Result(data, (), parts.problems)


def _listed(deployment: Deployment, group: str, found: list[NodeLog], kind: str) -> Result:
    parts = Parts("logs")
    states = _states(deployment, parts)
    rows = [
        (each.instance, _name(each, states), each.group or "-", f"{each.last:%Y-%m-%d %H:%M}" if each.last else "nothing yet")
        for each in found
    ]
    table = Table(("NODE", "NAME", "GROUP", "WRITTEN (UTC)"), rows) if rows else f"no logs of kind {kind}"
    text = (table, "\n".join([f"in log group {group}", *map(str, parts.missing)]))
    return Result({"log_group": group, "kind": kind, "logs": [_data(each, states) for each in found]}, text, parts.problems)


def _states(deployment: Deployment, parts: Parts) -> Mapping[str, Report]:
    return parts.get("names of nodes", lambda: latest_states(deployment, datetime.now(UTC))) or {}


def _name(log: NodeLog, states: Mapping[str, Report]) -> str:
    """Return the name that HyperPod gives to the node, or else the name in this list."""
    report = states.get(log.instance)
    return (report.text("node") if report else "") or log.name


def _data(log: NodeLog, states: Mapping[str, Report]) -> Json:
    last = log.last.isoformat() if log.last else None
    return {"name": _name(log, states), "stream": log.stream, "last_written": last, "node": _node(log, states)}


def _node(log: NodeLog, states: Mapping[str, Report]) -> Json | None:
    """Return the names of the node that wrote the log; None for deep health checks of many nodes."""
    if not log.group:
        return None
    report = states.get(log.instance)
    name, host = (report.text("node"), report.text("host")) if report else ("", "")
    return node_names(log.instance, name, host, log.group)


def _log_group(client: Any, deployment: Deployment) -> str:
    """Return the log group of the file's newest cluster."""
    name = deployment.config.cluster_name
    prefix = f"/aws/sagemaker/Clusters/{name or deployment.config.name}"
    own = re.compile(re.escape(prefix) + ("" if name else GENERATED) + "/[^/]+")
    named = listed(client, "describe_log_groups", "logGroups", logGroupNamePrefix=prefix)
    groups = [group for group in named if own.fullmatch(group["logGroupName"])]
    if not groups:
        raise CommandError(
            f"no logs of cluster {deployment.config.name!r}",
            f"`./hpod status {deployment.config.name}` shows its progress or failure",
        )
    return str(max(groups, key=lambda group: group["creationTime"])["logGroupName"])


def _node_logs(client: Any, group: str, prefix: str) -> list[NodeLog]:
    named = listed(client, "describe_log_streams", "logStreams", logGroupName=group, logStreamNamePrefix=prefix)
    streams = sorted(named, key=lambda stream: stream["creationTime"])
    found: dict[str, list[NodeLog]] = {}
    for stream in streams:
        name, _, instance = stream["logStreamName"].removeprefix(prefix).rpartition("/")
        own = found.setdefault(name, [])
        milliseconds = stream.get("lastEventTimestamp")
        last = datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None
        own.append(NodeLog(stream["logStreamName"], name, instance, len(own) + 1, last))
    return [log for name in sorted(found) for log in found[name]]


def _chosen(deployment: Deployment, found: list[NodeLog], node: str, kind: str, parts: Parts) -> tuple[NodeLog, Json | None]:
    """Return the log and the names of a node: by its instance id, its number in the list, or else any other name."""
    states = _states(deployment, parts)
    chosen = next((log for log in found if node in (log.instance, log.name, node_name(log.instance))), None)
    if chosen:
        return chosen, _node(chosen, states)
    names = _names(deployment, node, states) or {}
    chosen = next((log for log in found if log.instance == names.get("instance_id")), None)
    return chosen or _no_log(found, node, kind, states), names


def _names(deployment: Deployment, name: str, states: Mapping[str, Report]) -> Json | None:
    """Return the names of a node by its HyperPod name, host name or address; None if it is none of these.

    A name that several nodes report is none: one of them reports another node's.
    """
    named = [each for each in states.values() if name in {each.text(field) for field in ("node", "host", "address")}]
    if len(named) == 1:
        return node_names(named[0].instance, named[0].text("node"), named[0].text("host"), named[0].text("group"))
    if not re.match(r"ip-|\d", name):
        return None
    # A host name or an address: the API knows them without an agent, but only of nodes that exist.
    outputs = deployment.outputs()
    nodes = node_directory(deployment).nodes if "ClusterName" in outputs else ()
    return next((node.names for node in nodes if name in (node.host, node.address)), None)


def _no_log(found: list[NodeLog], node: str, kind: str, states: Mapping[str, Report]) -> NoReturn:
    known = ", ".join(dict.fromkeys(_name(log, states) for log in found[:10])) or "none"
    raise CommandError(f"no {kind} log of node {node!r}", f"available: {known}, or an instance id")


def _lines(client: Any, group: str, stream: str, sleep: Callable[[float], None] | None) -> Iterator[str]:
    """Yield the stream's lines; with ``sleep``, also future ones. At the end, the service repeats the token."""
    token: str | None = None
    while True:
        more = {"nextToken": token} if token else {}
        page = client.get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True, **more)
        for event in page["events"]:
            yield from event["message"].splitlines() or [""]
        if page["nextForwardToken"] == token:
            if sleep is None:
                return
            sleep(POLL_S)
        token = page["nextForwardToken"]
