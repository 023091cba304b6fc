"""An event of a cluster, from any source."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cli.events.verdicts import Rule, Source, Verdict, judge
from cli.result import Json, Table

MOST = 500
"""Characters of a text that are shown; HyperPod repeats whole script outputs."""


@dataclass(frozen=True)
class Event:
    """What happened to a subject (a node, a group, a stack, an alarm); ``kind`` is the source's word for it."""

    time: datetime
    source: Source
    kind: str
    subject: str
    text: str

    @property
    def rule(self) -> Rule:
        """Return the rule that judges the event."""
        return judge(self.source, self.kind, self.text)

    @property
    def verdict(self) -> Verdict:
        """Return whether the event is fine, worth watching, or requires an action."""
        return self.rule.verdict

    def action(self, cluster: str) -> str:
        """Return what to do; empty if nothing."""
        return self.rule.action.replace("CLUSTER", cluster).replace("NODE", shlex.quote(self.subject))

    @property
    def what(self) -> str:
        """Return the event on one line."""
        text = " ".join(self.text.split())
        shown = text if len(text) <= MOST else f"{text[: MOST - 3]}..."
        return f"{self.subject}: {shown}" if self.subject else shown

    @property
    def when(self) -> str:
        """Return the time in UTC, as tables show it."""
        return self.time.astimezone(UTC).strftime("%m-%d %H:%M:%SZ")

    def data(self, cluster: str) -> Json:
        """Return the event for JSON."""
        return {
            "time": self.time.astimezone(UTC).isoformat(),
            "source": self.source.value,
            "kind": self.kind,
            "subject": self.subject or None,
            "message": self.text,
            "verdict": self.verdict.value,
            "rule": self.rule.name,
            "fix": self.action(cluster) or None,
        }


def event_table(events: Sequence[Event]) -> Table:
    """Return the events with their verdicts."""
    return Table(("TIME", "VERDICT", "SOURCE", "WHAT"), [(each.when, each.verdict, each.source, each.what) for each in events])


def event_lines(event: Event, cluster: str) -> list[str]:
    """Return the event as lines: what happened, and below it what to do."""
    head = f"{event.when}  {event.verdict:<5}  {event.source:<9}  {event.what}"
    action = event.action(cluster) if event.verdict is Verdict.ACT else ""
    return [head, f"    {action}"] if action else [head]
