"""Events of an EKS cluster: those of nodes in the Kubernetes API, and the results of deep health checks."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from cli.deployment import Deployment, hyperpod_log_group
from cli.events.event import Event
from cli.events.verdicts import Source
from cli.kubernetes.names import node_name
from cli.node_reports import json_object, log_lines

EVENTS = f"/api/v1/events?fieldSelector={quote('involvedObject.kind=Node')}"
STREAMS = "DeepHealthCheckResults/"
_INSTANCE = re.compile(r"\bi-[0-9a-f]{8,17}\b")


def kubernetes_events(deployment: Deployment) -> Iterator[Event]:
    """Yield the events of nodes, which Kubernetes keeps for an hour; repeated ones have the time of the last."""
    with deployment.kubernetes() as client:
        for each in client.items(EVENTS):
            involved, time = each.get("involvedObject") or {}, _time(each)
            name = str(involved.get("name") or "")
            if time and involved.get("kind") == "Node" and name.startswith(node_name("i-")):
                count = each.get("count") or 1
                text = f"{each.get('reason')}: {each.get('message') or ''}{f' ({count} times)' if count > 1 else ''}"
                kind = f"{each.get('type') or 'Normal'} {each.get('reason')}"
                yield Event(time, Source.KUBERNETES, kind, name.removeprefix(node_name("")), text)


def deep_check_events(deployment: Deployment, cluster: Mapping[str, Any], since: datetime) -> Iterator[Event]:
    """Yield the results of deep health checks; the subject is the instance that the message names, or else the stream's."""
    for line in log_lines(deployment.client("logs"), hyperpod_log_group(cluster), since, streams=STREAMS):
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
