"""SageMaker's operations on compute quotas and scheduler configs in memory, with the interface of a boto3 client."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import botocore.session
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters

from tests.unit.cluster_resource.manual_clock import ManualClock

Json = dict[str, Any]
CLUSTER = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghij12"
OTHER_CLUSTER = "arn:aws:sagemaker:us-west-2:123456789012:cluster/zyxwvutsrq98"
SETTLE_S = 40
PAGE = 2
"""Smaller than any request's, so that every list has pages."""
READS = ("List", "Describe")


def refusal(code: str, message: str, status: int = 400) -> ClientError:
    """Return what the client raises where the service refuses."""
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Call")


@cache
def _shapes() -> Any:
    session = botocore.session.get_session()
    return session.get_service_model("sagemaker")


@dataclass
class FakeQuota:
    """One quota or scheduler config."""

    id: str
    cluster: str
    name: str
    settings: Json
    tags: dict[str, str]
    status: str = "Creating"
    version: int = 1
    due: Any = None
    failure: str = ""
    resource: str = "ComputeQuota"

    @property
    def arn(self) -> str:
        kind = "compute-quota" if self.resource == "ComputeQuota" else "cluster-scheduler-config"
        return f"arn:aws:sagemaker:us-west-2:123456789012:{kind}/{self.id}"

    @property
    def team(self) -> str:
        return str(self.settings.get("ComputeQuotaTarget", {}).get("TeamName", ""))

    def summary(self) -> Json:
        """Return it as the service lists it, with its defaults."""
        name = self.resource
        about: Json = {f"{name}Id": self.id, f"{name}Arn": self.arn, "Name": self.name, "ClusterArn": self.cluster}
        about |= {f"{name}Version": self.version, "Status": self.status}
        if name != "ComputeQuota":
            return about
        config = dict(self.settings["ComputeQuotaConfig"])
        sharing = {"BorrowLimit": 50, **(config.get("ResourceSharingConfig") or {})}
        shown = {**config, "ResourceSharingConfig": sharing}
        shown["ComputeQuotaResources"] = list(reversed(config.get("ComputeQuotaResources") or []))
        target = {"FairShareWeight": 0, **self.settings["ComputeQuotaTarget"]}
        state = {"ActivationState": self.settings.get("ActivationState", "Enabled")}
        return {**about, **state, "ComputeQuotaConfig": shown, "ComputeQuotaTarget": target}


@dataclass
class FakeQuotas:
    """All quotas. ``before`` and ``after`` hold what a call raises, by its number; ``fails`` which change of a team fails."""

    clock: ManualClock
    all: dict[str, FakeQuota] = field(default_factory=dict)
    clusters: set[str] = field(default_factory=lambda: {CLUSTER, OTHER_CLUSTER})
    calls: list[tuple[str, Json]] = field(default_factory=list)
    before: dict[int, BaseException] = field(default_factory=dict)
    after: dict[int, BaseException] = field(default_factory=dict)
    fails: dict[tuple[str, str], str] = field(default_factory=dict)
    refuses: Callable[[str, Json], ClientError | None] = lambda _operation, _request: None

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def __getattr__(self, name: str) -> Any:
        operation = "".join(part.capitalize() for part in name.split("_"))
        if not operation.startswith(("Create", "Update", "Delete", "List", "Describe", "Add")):
            raise AttributeError(name)
        return lambda **request: self._call(operation, request)

    def add(self, team: str, *, cluster: str = CLUSTER, tags: Json | None = None, name: str = "", **settings: Any) -> FakeQuota:
        """Add a quota of another owner."""
        target = {"ComputeQuotaTarget": {"TeamName": team}, "ComputeQuotaConfig": {}, **settings}
        quota = FakeQuota(f"other{next(self._numbers):07}", cluster, name or f"their-{team}", target, tags or {}, "Created")
        self.all[quota.id] = quota
        return quota

    def of(self, team: str, cluster: str = CLUSTER) -> FakeQuota:
        """Return the only quota of a team."""
        [found] = [quota for quota in self.all.values() if quota.team == team and quota.cluster == cluster]
        return found

    def scheduler(self) -> FakeQuota | None:
        """Return the scheduler config."""
        return next((each for each in self.all.values() if each.resource == "ClusterSchedulerConfig"), None)

    def writes(self) -> list[str]:
        """Return the operations that change something."""
        return [operation for operation, _ in self.calls if not operation.startswith(READS)]

    def _call(self, operation: str, request: Json) -> Json:
        validate_parameters(request, _shapes().operation_model(operation).input_shape)
        number = len(self.calls)
        self.calls.append((operation, request))
        self._settle()
        if number in self.before:
            raise self.before.pop(number)
        refused = self.refuses(operation, request)
        if refused:
            raise refused
        verb, resource = re.fullmatch(r"(Create|Update|Delete|Describe|List|Add)(\w+?)s?", operation).groups()  # type: ignore[union-attr]
        if resource in ("ComputeQuota", "ClusterSchedulerConfig"):
            reply: Json = getattr(self, f"_{verb.lower()}")(resource, request)
        else:
            reply = getattr(self, f"_{verb.lower()}_tags")(request)
        if number in self.after:
            raise self.after.pop(number)
        return reply

    def _settle(self) -> None:
        """End the changes that are due."""
        for quota in [each for each in self.all.values() if each.due is not None and each.due <= self.clock.now]:
            quota.due = None
            kind = quota.status.removesuffix("ing")
            quota.failure = self.fails.get((quota.team, kind), "")
            if quota.failure:
                quota.status = {"Creat": "CreateFailed", "Updat": "UpdateFailed", "Delet": "DeleteFailed"}[kind]
            elif kind == "Delet":
                del self.all[quota.id]
            else:
                quota.status = f"{kind}ed"

    def _start(self, quota: FakeQuota, status: str) -> None:
        quota.status, quota.due = status, self.clock.after(SETTLE_S)

    def _find(self, resource: str, request: Json) -> FakeQuota:
        found = self.all.get(request[f"{resource}Id"])
        if found is None or found.resource != resource:
            raise refusal("ResourceNotFound", f"{resource} {request[f'{resource}Id']} not found")
        return found

    def _idle(self, resource: str, request: Json) -> FakeQuota:
        quota = self._find(resource, request)
        if quota.due is not None:
            raise refusal("ConflictException", f"quota {quota.name} is {quota.status}")
        return quota

    def _create(self, resource: str, request: Json) -> Json:
        if request["ClusterArn"] not in self.clusters:
            raise refusal("ResourceNotFound", f"Cluster {request['ClusterArn']} not found.")
        settings = {name: value for name, value in request.items() if name not in ("Name", "ClusterArn", "Tags")}
        tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
        number, cluster = next(self._numbers), request["ClusterArn"]
        quota = FakeQuota(f"quota{number:07}", cluster, request["Name"], settings, tags, resource=resource)
        taken = [each for each in self.all.values() if (each.cluster, each.resource) == (cluster, resource)]
        if any(each.name == quota.name or each.team == quota.team for each in taken):
            raise refusal("ConflictException", f"a quota with name {quota.name} or team {quota.team} already exists")
        self.all[quota.id] = quota
        self._start(quota, "Creating")
        return {f"{resource}Id": quota.id, f"{resource}Arn": quota.arn}

    def _update(self, resource: str, request: Json) -> Json:
        quota = self._idle(resource, request)
        if request["TargetVersion"] != quota.version:
            raise refusal("ConflictException", f"version {request['TargetVersion']} is not the current one")
        changes = {name: value for name, value in request.items() if name not in (f"{resource}Id", "TargetVersion")}
        quota.settings = {**quota.settings, **changes}
        quota.version += 1
        self._start(quota, "Updating")
        return {f"{resource}Arn": quota.arn, f"{resource}Version": quota.version}

    def _delete(self, resource: str, request: Json) -> Json:
        self._start(self._idle(resource, request), "Deleting")
        return {}

    def _describe(self, resource: str, request: Json) -> Json:
        quota = self._find(resource, request)
        config = {name: value for name, value in quota.settings.items() if name == "SchedulerConfig"}
        return {**quota.summary(), **config, **({"FailureReason": quota.failure} if quota.failure else {})}

    def _list(self, resource: str, request: Json) -> Json:
        key = (request["ClusterArn"], resource)
        found = [quota.summary() for quota in self.all.values() if (quota.cluster, quota.resource) == key]
        return _page(f"{resource}Summaries", found, request)

    def _list_tags(self, request: Json) -> Json:
        tags = [{"Key": key, "Value": value} for key, value in self._tagged(request).tags.items()]
        return _page("Tags", tags, request)

    def _add_tags(self, request: Json) -> Json:
        self._tagged(request).tags.update({tag["Key"]: tag["Value"] for tag in request["Tags"]})
        return {}

    def _delete_tags(self, request: Json) -> Json:
        for key in request["TagKeys"]:
            self._tagged(request).tags.pop(key, None)
        return {}

    def _tagged(self, request: Json) -> FakeQuota:
        for quota in self.all.values():
            if quota.arn == request["ResourceArn"]:
                return quota
        raise refusal("ValidationException", f"Could not find resource {request['ResourceArn']}")


def _page(name: str, items: list[Json], request: Json) -> Json:
    start = int(request.get("NextToken") or 0)
    more = {"NextToken": str(start + PAGE)} if start + PAGE < len(items) else {}
    return {name: items[start : start + PAGE], **more}
