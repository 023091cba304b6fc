"""Make the calls of Custom::HyperPodRollout: the pointer, the nodes and their reports."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore

from cluster_resource.aws_api import ApiError, Kind, api_errors
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.decision import Call
from cluster_resource.event import Json
from cluster_resource.pointer import Pointer
from cluster_resource.reports import Fleet, fleet_of

REPORTED_S = 15 * 60
"""Without a report for this long, a node counts as without agent: agents report every five minutes."""

READ_S = 30
"""How long pages of reports are read: the function times out after 60 seconds."""


def host_now() -> datetime:
    """Return the host's time, which CloudWatch's time stamps compare with."""
    return datetime.now(UTC)


class RolloutApi:
    """The calls for one cluster file, on boto3 clients."""

    def __init__(
        self,
        clusters: ClusterApi,
        ssm: Any,
        logs: Any,
        now: Callable[[], datetime] = host_now,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clusters = clusters
        self._ssm = ssm
        self._logs = logs
        self._now = now
        self._seconds = seconds

    def pointer(self, parameter: str) -> Pointer | None:
        """Return the pointer, or nothing if it is absent or malformed."""
        try:
            with api_errors("GetParameter"):
                return Pointer.parse(self._ssm.get_parameter(Name=parameter)["Parameter"]["Value"])
        except ApiError as error:
            if error.kind is Kind.ABSENT:
                return None
            raise

    def scripts_refusal(self, properties: Mapping[str, Any]) -> str:
        """Return why no node may run the scripts of ``properties``, or nothing."""
        return self._clusters.scripts_refusal(properties)

    def execute(self, call: Call, key: str) -> None:
        """Make a call that changes the pointer, signed if there is a key; deleting an absent one succeeds."""
        arguments = call.arguments
        if key and "Value" in arguments:
            arguments = {**arguments, "Value": self._clusters.signed(key, arguments["Name"], json.loads(arguments["Value"]))}
        try:
            with api_errors(call.operation):
                getattr(self._ssm, botocore.xform_name(call.operation))(**arguments)
        except ApiError as error:
            if (call.operation, error.kind) != ("DeleteParameter", Kind.ABSENT):
                raise

    def fleet(self, cluster: str, log_group: str, roles: Mapping[str, str], pointer: Pointer | None) -> Fleet:
        """Return the running nodes of the cluster and their reports; ``pointer`` is the latest."""
        since = int((self._now() - timedelta(seconds=REPORTED_S)).timestamp() * 1000)
        return fleet_of(self._clusters.nodes(cluster), self._reports(log_group, since), roles, since, pointer)

    def _reports(self, log_group: str, since: int) -> Iterator[Json]:
        """Yield the last reports, page by page; their order in different streams is not documented."""
        end = self._seconds() + READ_S
        token: Json = {}
        while True:
            with api_errors("FilterLogEvents"):
                page = self._logs.filter_log_events(logGroupName=log_group, startTime=since, **token)
            yield from page["events"]
            if not page.get("nextToken"):
                return
            if self._seconds() >= end:
                text = f"the reports of the last {REPORTED_S // 60} minutes cannot be read in {READ_S} seconds"
                raise ApiError(Kind.TRANSIENT, "FilterLogEvents", "TooManyReports", text)
            token = {"nextToken": page["nextToken"]}
