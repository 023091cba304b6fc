"""Runs in Lambda. When a step runs, by the state machine's own times: waiting can be tested and never depends on a host."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from cluster_resource import reasons
from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.decision import Decision, Fail, Memory, Wait
from cluster_resource.desired import Desired

DEADLINE_S = 57 * 60
"""CloudFormation waits an hour from its own call on, and the state machine ends at 59 minutes: a step must answer before both."""


class Clock(NamedTuple):
    """The time of a step, and when its request began."""

    now: datetime
    started: datetime

    @classmethod
    def of(cls, payload: Mapping[str, str]) -> "Clock":
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


GONE_S = 55
"""How long a cluster that was seen must be absent before it is gone: three steps."""


def suspect(memory: Memory, sign: str, clock: Clock) -> Memory:
    """The memory with ``sign`` noted, and since when it is seen without a break."""
    if memory.suspicion == sign:
        return memory
    return memory._replace(suspicion=sign, suspicion_since=str(clock))


def clear_suspicion(memory: Memory) -> Memory:
    """The memory after a good sign."""
    return memory._replace(suspicion="", suspicion_since="") if memory.suspicion else memory


def is_confirmed(memory: Memory, clock: Clock, seconds: float) -> bool:
    """Whether the sign is there for ``seconds`` at least."""
    return clock.since_s(memory.suspicion_since) >= seconds


RETRY_S = {Kind.ROLE: 300, Kind.DENIED: 90}
"""IAM is eventually consistent: a role that was just made may not be assumable yet, a policy not in force."""


FINAL = (Kind.QUOTA, Kind.INVALID)


def after_error(error: ApiError, desired: Desired, memory: Memory, clock: Clock) -> Decision:
    """Decide after a call failed. Throttles, outages and conflicts are never the end: the deadline is."""
    sign = f"{error.operation} {error.kind.value}"
    since = memory.last_error_since if memory.last_error.startswith(sign) else str(clock)
    memory = memory._replace(last_error=f"{sign}: {error.code}: {error.text}"[:500], last_error_since=since)
    is_patient = error.kind in RETRY_S and clock.since_s(since) < RETRY_S[error.kind]
    if error.kind in FINAL or (error.kind in RETRY_S and not is_patient):
        return Decision(Fail(reasons.refused(error, desired)), memory)
    return Decision(Wait(str(error)), memory)
