"""Limit how long a step waits: the request's deadline, confirmation of bad signs, retries of failed calls."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, Protocol

from cluster_resource import reasons
from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.decision import Decision, Fail, Memory, Wait
from cluster_resource.desired import Desired

DEADLINE_S = 57 * 60
"""CloudFormation waits an hour, and the state machine ends at 59 minutes."""

GONE_S = 55
"""How long a cluster that was seen must be absent to count as deleted: three steps."""

RETRY_S = {Kind.ROLE: 300, Kind.DENIED: 90}
"""A new role or policy may not be in effect yet."""

FINAL = (Kind.QUOTA, Kind.INVALID)


class Context(Protocol):
    """The invocation's context from Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time until the function times out."""


def seconds_left(context: Context) -> float:
    """Return the time until the function times out."""
    return context.get_remaining_time_in_millis() / 1000


class Clock(NamedTuple):
    """The time of a step and the start of its request, by the state machine's clock."""

    now: datetime
    started: datetime

    @classmethod
    def of(cls, payload: Mapping[str, str]) -> "Clock":
        """Return a step's clock."""
        return cls(datetime.fromisoformat(payload["now"]), datetime.fromisoformat(payload["started"]))

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the request began."""
        return (self.now - self.started).total_seconds()

    @property
    def is_past_deadline(self) -> bool:
        """Return whether the request must get a response now."""
        return self.elapsed_s >= DEADLINE_S

    def since_s(self, then: str) -> float:
        """Return the seconds since ``then``, a time from memory; 0 if it is empty."""
        return (self.now - datetime.fromisoformat(then)).total_seconds() if then else 0.0

    def __str__(self) -> str:
        """Return the step's time as memory stores it."""
        return self.now.isoformat()


def suspect(memory: Memory, sign: str, clock: Clock) -> Memory:
    """Return the memory with a bad sign and its first time; DescribeCluster's reply may be stale."""
    if memory.suspicion == sign:
        return memory
    return memory._replace(suspicion=sign, suspicion_since=str(clock))


def clear_suspicion(memory: Memory) -> Memory:
    """Return the memory after a good sign."""
    return memory._replace(suspicion="", suspicion_since="") if memory.suspicion else memory


def is_confirmed(memory: Memory, clock: Clock, seconds: float) -> bool:
    """Return whether the bad sign has lasted at least ``seconds``."""
    return clock.since_s(memory.suspicion_since) >= seconds


def after_error(error: ApiError, desired: Desired, memory: Memory, clock: Clock) -> Decision:
    """Decide after a failed call. Throttles, outages and conflicts are retried until the deadline."""
    memory = with_error(error, memory, clock)
    if is_final(error, memory, clock):
        return Decision(Fail(reasons.call_refused(error, desired)), memory)
    return Decision(Wait(str(error)), memory)


def with_error(error: ApiError, memory: Memory, clock: Clock) -> Memory:
    """Return the memory with the error, and since when the operation fails in this way."""
    sign = f"{error.operation} {error.kind.value}"
    since = memory.last_error_since if memory.last_error.startswith(sign) else str(clock)
    return memory._replace(last_error=f"{sign}: {error.code}: {error.text}"[:500], last_error_since=since)


def is_final(error: ApiError, memory: Memory, clock: Clock, retry_s: Mapping[Kind, int] = RETRY_S) -> bool:
    """Return whether the error ends the request: at once, or because it lasted for ``retry_s``."""
    return error.kind in FINAL or clock.since_s(memory.last_error_since) >= retry_s.get(error.kind, float("inf"))
