"""Word a failed call for people. Runs in Lambda."""

from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.errors import CallError

FIX = {
    Kind.ABSENT: "create the cluster, or correct the ClusterArn, then deploy again",
    Kind.DENIED: "allow the action to the function's role, then deploy again",
    Kind.INVALID: "correct it in the cluster file, and check that the task governance add-on is ACTIVE, then deploy again",
    Kind.QUOTA: "reduce the quotas, or request an increase in Service Quotas, then deploy again",
}


class QuotaError(CallError):
    """A failed call on a quota or scheduler config: the service's error, and a fix."""

    kind: Kind

    def __init__(self, error: ApiError, subject: str) -> None:
        fix = FIX.get(error.kind)
        super().__init__(f"{subject}: {error}{f'; {fix}' if fix else ''}")
        self.kind = error.kind
