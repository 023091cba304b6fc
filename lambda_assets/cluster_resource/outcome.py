"""Runs in Lambda. What a failed call means for its request: wait and try again, or the end."""

from cluster_resource import reasons
from cluster_resource.actions import Decision, Fail, Wait
from cluster_resource.desired import Desired
from cluster_resource.errors import ApiError, Kind
from cluster_resource.memory import Memory
from cluster_resource.moment import Moment

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
