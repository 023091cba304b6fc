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


GONE_S = 55
"""How long a cluster that was seen must be absent before it is gone: three steps."""


def doubted(memory: Memory, sign: str, moment: Moment) -> Memory:
    """The memory with ``sign`` noted, and since when it is seen without a break."""
    if memory.doubt == sign:
        return memory
    return memory._replace(doubt=sign, doubt_since=str(moment))


def undoubted(memory: Memory) -> Memory:
    """The memory after a good sign."""
    return memory._replace(doubt="", doubt_since="") if memory.doubt else memory


def lasts(memory: Memory, moment: Moment, seconds: float) -> bool:
    """Whether the sign is there for ``seconds`` at least."""
    return moment.since_s(memory.doubt_since) >= seconds


PATIENCE_S = {Kind.ROLE: 300, Kind.DENIED: 90}
"""IAM is eventually consistent: a role that was just made may not be assumable yet, a policy not in force."""


FINAL = (Kind.QUOTA, Kind.INVALID)


def after_error(error: ApiError, desired: Desired, memory: Memory, moment: Moment) -> Decision:
    """Decide after a call failed. Throttles, outages and conflicts are never the end: the deadline is."""
    sign = f"{error.operation} {error.kind.value}"
    since = memory.trouble_since if memory.trouble.startswith(sign) else str(moment)
    memory = memory._replace(trouble=f"{sign}: {error.code}: {error.text}"[:500], trouble_since=since)
    is_patient = error.kind in PATIENCE_S and moment.since_s(since) < PATIENCE_S[error.kind]
    if error.kind in FINAL or (error.kind in PATIENCE_S and not is_patient):
        return Decision(Fail(reasons.refused(error, desired)), memory)
    return Decision(Wait(str(error)), memory)
