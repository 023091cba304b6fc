"""All events of a cluster since a time, in order."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.events.aws_sources import alarm_events, cluster_events, operations, stack_events
from cli.events.event import Event
from cli.events.node_sources import (
    bundle_events,
    deep_check_events,
    disk_events,
    health_events,
    kubernetes_events,
    state_events,
    warning_events,
)
from cli.parts import Parts


def timeline(
    deployment: Deployment,
    *,
    since: datetime,
    cluster: Mapping[str, Any] | None,
    is_first: bool = True,
    is_reachable: bool = True,
) -> tuple[list[Event], list[CommandError]]:
    """Return the events, oldest first, and why sources are missing; without a cluster, those of its stacks and alarms.

    If the API server is known not to be reachable, it is not asked.
    """
    sources: dict[str, Iterator[Event]] = {
        "stack events": stack_events(deployment, since),
        "alarm history": alarm_events(deployment, since),
    }
    if not deployment.is_eks:
        sources |= {
            "scripts of nodes": bundle_events(deployment, since),
            "states of controllers": state_events(deployment, since, is_first=is_first),
            "warnings of nodes": warning_events(deployment, since),
            "disks of nodes": disk_events(deployment, since, is_first=is_first),
        }
    elif cluster is not None:
        sources["deep health checks"] = deep_check_events(deployment, cluster, since)
        if is_reachable:
            sources["events of Kubernetes"] = kubernetes_events(deployment)
    if cluster is not None:
        sources |= {
            "cluster events": cluster_events(deployment, cluster, since),
            "operations": operations(deployment, cluster, since),
            "node health": health_events(deployment, cluster, since),
        }
    parts = Parts("events")
    found = [event for name, events in sources.items() for event in parts.get(name, partial(list[Event], events)) or ()]
    return sorted((event for event in found if event.time >= since), key=lambda event: event.time), parts.missing
