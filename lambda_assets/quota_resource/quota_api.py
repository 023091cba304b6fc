"""Call the SageMaker API for compute quotas and scheduler configs. Every failure is an ApiError."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import botocore

from cluster_resource.aws_api import CONFIG, MODEL_DIR, ApiError, Kind, api_errors, sagemaker_client
from cluster_resource.errors import CallError, PendingError
from cluster_resource.event import Json, Owner, owner_of
from quota_resource.properties import NO_TEAM, Item

QUOTA, SCHEDULER = "ComputeQuota", "ClusterSchedulerConfig"
"""The resources: the names of operations and members begin or end with them."""
WORDS = {QUOTA: "quota", SCHEDULER: "scheduler config"}
OPERATIONS = (
    *("AddTags", "DeleteTags", "ListTags"),
    *(f"{verb}{resource}" for resource in (QUOTA, SCHEDULER) for verb in ("Create", "Delete", "Describe", "Update")),
    *(f"List{resource}s" for resource in (QUOTA, SCHEDULER)),
)
"""The operations in the service model and in the function's role."""

PAGE = 100
RESERVE_S = 2 * (CONFIG.connect_timeout + CONFIG.read_timeout) + 2
"""A call begins only if the function has this long left, so that it does not time out in it."""

DELETED = "Deleted"
READY = ("Created", "Updated")
BUSY = ("Creating", "Updating", "Deleting")
CREATE_FAILED = ("CreateFailed", "CreateRollbackFailed")
UPDATE_FAILED = ("UpdateFailed", "UpdateRollbackFailed")
DELETE_FAILED = ("DeleteFailed", "DeleteRollbackFailed")
FIX = {
    Kind.ABSENT: "create the cluster, or correct the ClusterArn, then deploy again",
    Kind.DENIED: "allow the action to the function's role, then deploy again",
    Kind.INVALID: "correct it in the cluster file, and check that the task governance add-on is ACTIVE, then deploy again",
    Kind.QUOTA: "reduce the quotas, or request an increase in Service Quotas, then deploy again",
}


class QuotaError(CallError):
    """A failed call on a quota or scheduler config, for people: the service's error, and a fix."""

    kind: Kind

    def __init__(self, error: ApiError, subject: str) -> None:
        fix = FIX.get(error.kind)
        super().__init__(f"{subject}: {error}{f'; {fix}' if fix else ''}")
        self.kind = error.kind


class Observed(NamedTuple):
    """A quota or scheduler config as the service shows it."""

    resource: str
    id: str
    arn: str
    name: str
    team: str
    version: int
    status: str
    settings: Json

    def __str__(self) -> str:
        """Return it as errors show it."""
        return f"{WORDS[self.resource]} {self.name} ({self.id})"


class QuotaApi:
    """The operations on both resources, on a boto3 client; raises PendingError if no time is left for another call."""

    def __init__(self, client: Any, seconds_left: Callable[[], float]) -> None:
        self._client = client
        self._seconds_left = seconds_left

    def found(self, resource: str, cluster_arn: str) -> list[Observed]:
        """Return all of the cluster's; none if it does not exist."""
        try:
            summaries = list(self._pages(f"List{resource}s", f"{resource}Summaries", ClusterArn=cluster_arn))
            listed = [_observed(resource, summary) for summary in summaries if summary["Status"] != DELETED]
        except ApiError as error:
            if error.kind is Kind.ABSENT:
                return []
            raise
        return listed

    def settings(self, observed: Observed) -> Json:
        """Return the settings; the list shows those of quotas only."""
        return observed.settings if observed.resource == QUOTA else self._describe(observed)

    def owner(self, observed: Observed) -> Owner | None:
        """Return the owner in the tags."""
        return owner_of({tag["Key"]: tag["Value"] for tag in self._pages("ListTags", "Tags", ResourceArn=observed.arn)})

    def create(self, resource: str, cluster_arn: str, item: Item, tags: Mapping[str, str]) -> str:
        """Create an item and return its ID."""
        reply = self._call(f"Create{resource}", Name=item.name, ClusterArn=cluster_arn, Tags=_as_list(tags), **item.settings)
        return str(reply[f"{resource}Id"])

    def update(self, observed: Observed, settings: Json) -> int:
        """Update the version that was read, and return the new one."""
        resource = observed.resource
        reply = self._call(f"Update{resource}", TargetVersion=observed.version, **_id(observed), **settings)
        return int(reply[f"{resource}Version"])

    def delete(self, observed: Observed) -> None:
        """Delete an item; succeed if it is absent."""
        try:
            self._call(f"Delete{observed.resource}", **_id(observed))
        except ApiError as error:
            if error.kind is not Kind.ABSENT:
                raise

    def retag(self, observed: Observed, tags: Mapping[str, str], removed: list[str]) -> None:
        """Change the user's tags."""
        if tags:
            self._call("AddTags", ResourceArn=observed.arn, Tags=_as_list(tags))
        if removed:
            self._call("DeleteTags", ResourceArn=observed.arn, TagKeys=removed)

    def failure(self, observed: Observed) -> str:
        """Return why a change failed."""
        return str(self._describe(observed).get("FailureReason") or "HyperPod gave no reason")

    def _describe(self, observed: Observed) -> Json:
        return self._call(f"Describe{observed.resource}", **_id(observed))

    def _pages(self, operation: str, items: str, **subject: str) -> Iterator[Json]:
        page: Mapping[str, Any] = {}
        while True:
            more = {"NextToken": page["NextToken"]} if page.get("NextToken") else {}
            page = self._call(operation, MaxResults=PAGE, **subject, **more)
            yield from page.get(items, [])
            if not page.get("NextToken"):
                return

    def _call(self, operation: str, **arguments: Any) -> Json:
        if self._seconds_left() < RESERVE_S:
            raise PendingError("the next step continues")
        with api_errors(operation):
            reply: Json = getattr(self._client, botocore.xform_name(operation))(**arguments)
            return reply


def quota_client() -> Any:
    """Return a SageMaker client with the service model of this release."""
    return sagemaker_client(MODEL_DIR, OPERATIONS)


def _observed(resource: str, summary: Json) -> Observed:
    return Observed(
        resource=resource,
        id=summary[f"{resource}Id"],
        arn=summary[f"{resource}Arn"],
        name=summary["Name"],
        team=(summary.get("ComputeQuotaTarget") or {}).get("TeamName", NO_TEAM),
        version=int(summary.get(f"{resource}Version") or 1),
        status=summary["Status"],
        settings=summary,
    )


def _id(observed: Observed) -> dict[str, str]:
    return {f"{observed.resource}Id": observed.id}


def _as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
