"""Define why a step waits or fails. Runs in Lambda."""

from cluster_resource.aws_api import ApiError, Kind

FIX = {
    Kind.ABSENT: "create the cluster, or correct the ClusterArn, then deploy again",
    Kind.DENIED: "allow the action to the function's role, then deploy again",
    Kind.INVALID: "correct it in the cluster file, and check that the task governance add-on is ACTIVE, then deploy again",
    Kind.QUOTA: "reduce the quotas, or request an increase in Service Quotas, then deploy again",
}


class PropertyError(ValueError):
    """A property is wrong; the message says which one."""


class PendingError(Exception):
    """The rest must wait for the next step."""


class QuotaError(Exception):
    """A quota or scheduler config cannot be as desired; the message names the team, the problem and the fix."""


class CallError(Exception):
    """A failed call: the service's error, and a fix."""

    def __init__(self, error: ApiError, subject: str) -> None:
        fix = FIX.get(error.kind)
        super().__init__(f"{subject}: {error}{f'; {fix}' if fix else ''}")
        self.kind = error.kind
