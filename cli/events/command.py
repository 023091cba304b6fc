"""`./hpod events CLUSTER`: what happened to a cluster, and what requires an action."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from cli.deployment import Deployment
from cli.events.event import Event, event_lines
from cli.events.timeline import timeline
from cli.events.verdicts import Verdict
from cli.result import Result, Show, ignore, warning_problem

POLL_S = 10
OVERLAP = timedelta(minutes=5)
"""Logs and events arrive late: each poll reads this much again."""


def events(
    deployment: Deployment,
    *,
    since: timedelta = timedelta(hours=24),
    follow: bool = False,
    show: Show = ignore,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Result:
    """Return the events since a time; with ``follow``, show new ones as they come."""
    start = now() - since
    cluster = _cluster(deployment)
    found, missing = timeline(deployment, since=start, cluster=cluster)
    name = deployment.argument

    def show_event(event: Event) -> None:
        for line in event_lines(event, name):
            show(line)

    def read_again() -> list[Event]:
        sleep(POLL_S)
        return timeline(deployment, since=now() - OVERLAP, cluster=cluster, is_first=False)[0]

    for event in found:
        show_event(event)
    if follow:
        _follow(read_again, found, show_event)
    counts = Counter(event.verdict for event in found)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in reversed(Verdict))
    head = f"{len(found)} events since {start.astimezone(UTC):%Y-%m-%d %H:%M} UTC: {total}"
    data = {"since": start.isoformat(), "events": [event.data(name) for event in found]}
    return Result(data, ("\n".join([head, *map(str, missing)]),), [warning_problem(error) for error in missing])


def _follow(read: Callable[[], list[Event]], known: list[Event], show: Callable[[Event], None]) -> None:
    """Show new events until Ctrl-C; ``read`` waits before it reads."""
    seen = set(known)
    while True:
        for event in read():
            if event not in seen:
                seen.add(event)
                show(event)


def _cluster(deployment: Deployment) -> Mapping[str, Any] | None:
    """Return the cluster's description; None before it exists, when only its stacks have events."""
    stacks = deployment.read_stacks()
    if stacks and not any("ClusterName" in stack.outputs for stack in stacks):
        return None
    return deployment.cluster()
