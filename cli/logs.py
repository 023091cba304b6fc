"""`./hpod logs CLUSTER [NODE]`: the output of lifecycle scripts, also of nodes and clusters that no longer exist.

HyperPod's log groups outlive their clusters, also clusters that could not be created.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cli.deployment import Deployment
from cli.errors import OpsError
from cli.result import Result, Show, Table, ignore

SCRIPTS = "LifecycleConfig/"
POLL_S = 2
GENERATED = "-(?:[0-9a-f]{12}|[0-9a-f]{16})"
"""What a generated name ends in: of the custom resource, and of CloudFormation's own."""


@dataclass(frozen=True)
class NodeLog:
    """The log stream of a node; ``number`` counts the group's nodes in the order of their first line."""

    stream: str
    group: str
    instance: str
    number: int
    last: str

    @property
    def names(self) -> tuple[str, str]:
        """The names that the user may pass."""
        return self.instance, f"{self.group}-{self.number}"


def logs(
    deployment: Deployment,
    *,
    node: str | None = None,
    follow: bool = False,
    show: Show = ignore,
    sleep: Callable[[float], None] = time.sleep,
) -> Result:
    """Show the lines of a node's log as they come; without a node, return the list of logs."""
    client = deployment.client("logs")
    group = _log_group(client, deployment)
    found = _node_logs(client, group)
    if node is None:
        return _listed(group, found)
    chosen = _chosen(found, node)
    lines = []
    for line in _lines(client, group, chosen.stream, sleep if follow else None):
        show(line)
        if not follow:  # which never ends
            lines.append(line)
    return Result({"log_group": group, "node": chosen.instance, "lines": lines})


def _listed(group: str, found: list[NodeLog]) -> Result:
    rows = [(each.instance, each.names[1], each.group, each.last) for each in found]
    listed = [{"instance_id": node, "name": name, "group": of, "last_written": last} for node, name, of, last in rows]
    text = (Table(("NODE", "NAME", "GROUP", "LAST WRITTEN"), rows), f"in log group {group}")
    return Result({"log_group": group, "nodes": listed}, text)


def _log_group(client: Any, deployment: Deployment) -> str:
    """Return the log group of the file's newest cluster."""
    name = deployment.config.cluster_name
    prefix = f"/aws/sagemaker/Clusters/{name or deployment.config.name}"
    own = re.compile(re.escape(prefix) + ("" if name else GENERATED) + "/[^/]+")
    pages = client.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
    groups = [group for page in pages for group in page["logGroups"] if own.fullmatch(group["logGroupName"])]
    if not groups:
        raise OpsError(
            f"no logs of cluster {deployment.config.name!r}; `./hpod status "
            f"{deployment.config.name}` shows its progress or failure"
        )
    return str(max(groups, key=lambda group: group["creationTime"])["logGroupName"])


def _node_logs(client: Any, group: str) -> list[NodeLog]:
    pages = client.get_paginator("describe_log_streams").paginate(logGroupName=group, logStreamNamePrefix=SCRIPTS)
    streams = sorted((stream for page in pages for stream in page["logStreams"]), key=lambda stream: stream["creationTime"])
    found: dict[str, list[NodeLog]] = {}
    for stream in streams:
        _, name, instance = stream["logStreamName"].split("/", 2)
        own = found.setdefault(name, [])
        own.append(NodeLog(stream["logStreamName"], name, instance, len(own) + 1, _when(stream.get("lastEventTimestamp"))))
    return [log for name in sorted(found) for log in found[name]]


def _chosen(found: list[NodeLog], node: str) -> NodeLog:
    for log in found:
        if node in log.names:
            return log
    known = ", ".join(log.names[1] for log in found[:10]) or "none"
    raise OpsError(f"no log of node {node!r}; available: {known}, or an instance id")


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


def _when(milliseconds: int | None) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if milliseconds else "nothing yet"
