"""Runs in Lambda. When a step runs, by the state machine's own times: waiting can be tested and never depends on a host."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

DEADLINE_S = 57 * 60
"""CloudFormation waits an hour from its own call on, and the state machine ends at 59 minutes: a step must answer before both."""


class Moment(NamedTuple):
    """The time of a step, and when its request began."""

    now: datetime
    started: datetime

    @classmethod
    def of(cls, payload: Mapping[str, str]) -> "Moment":
        """The moment that a step's input tells."""
        return cls(datetime.fromisoformat(payload["now"]), datetime.fromisoformat(payload["started"]))

    @property
    def elapsed_s(self) -> float:
        """Seconds since the request began."""
        return (self.now - self.started).total_seconds()

    @property
    def is_past_deadline(self) -> bool:
        """Whether the request must be answered now, whatever the cluster does."""
        return self.elapsed_s >= DEADLINE_S

    def since_s(self, then: str) -> float:
        """Seconds since ``then``, a time that a step wrote down; 0 when it wrote none."""
        return (self.now - datetime.fromisoformat(then)).total_seconds() if then else 0.0

    def __str__(self) -> str:
        """The time of the step as it is written down."""
        return self.now.isoformat()
