"""An account with a running cluster: nodes that report, logs, alarms, file systems and events."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError, OperationNotPageableError

from cli.deployment import Deployment
from tests.unit.cli.fake_stack import FakeStack, Json
from tests.unit.cli.test_retained import parsed

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
FILE = """
region: us-west-2
network: {availability_zone_id: usw2-az4}
storage: {lustre: {version: "2.15"}}
instance_groups:
  - {name: head, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: work, role: compute, partition: dev, instance_type: ml.g5.8xlarge, instance_count: 2}
"""
NEW, OLD = "a" * 64, "b" * 64
REPORTS, HEALTH = "/hyperpod-cdk/draft/nodes", "/aws/sagemaker/Clusters/draft-1/abcdefghijkl"
ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"


def ago(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


class FakeOperations(FakeStack):
    """Clients for all services at once, with one cluster of two groups."""

    def __init__(self) -> None:
        super().__init__("UPDATE_COMPLETE")
        self.outputs = [
            {"OutputKey": "ClusterName", "OutputValue": "draft-1", "Description": "name"},
            {"OutputKey": "FileSystemId", "OutputValue": "fs-00000001", "Description": "id"},
        ]
        self.file = FILE
        self.continuous = False
        self.nodes = [node("head", 1), node("work", 2), node("work", 3)]
        self.logged: dict[str, list[tuple[str, datetime, str]]] = {}
        self.ingested: datetime | None = None
        """When CloudWatch received all lines; None if each at its own time."""
        self.alarms: list[Json] = []
        self.history: list[Json] = []
        self.systems = [
            {"FileSystemId": "fs-00000001", "FileSystemType": "LUSTRE", "Lifecycle": "AVAILABLE", "StorageCapacity": 1200}
        ]
        self.associations: list[Json] = []
        self.free_gib: int | None = None
        self.pointer: str | None = None
        self.cluster_events: list[Json] = []
        self.operations: list[Json] = []
        self.stack_events: list[Json] = []
        self.refused: set[str] = set()
        self.quotas: list[Json] = []
        self.schedulers: list[Json] = []

    def deployment(self) -> Deployment:
        session: Any = self
        return Deployment(parsed(self.file), session)

    def forge(self, stream: str, record: str, number: int, minutes: float = 1, **facts: Any) -> None:
        """Write a record of a node of group work to any stream."""
        fields = {"record": record, "instance": f"i-{number:017d}", "node": "work-1", "group": "work", "sha256": NEW, **facts}
        self.log(REPORTS, stream, ago(minutes), fields)

    def log(self, group: str, stream: str, time: datetime, record: Json) -> None:
        self.logged.setdefault(group, []).append((stream, time, json.dumps(record)))

    def state(self, group: str, number: int, minutes: float = 1, sha256: str = NEW, **facts: Any) -> None:
        """Write the state report of a node, as its agent does."""
        self._report("state", group, number, minutes, {"sha256": sha256, "generation": 7, **facts})

    def bundle(self, group: str, number: int, result: str, minutes: float = 5, **facts: Any) -> None:
        """Write the report of a node after an attempt to apply a bundle."""
        self._report("bundle", group, number, minutes, {"sha256": NEW, "generation": 7, "result": result, **facts})

    def _report(self, record: str, group: str, number: int, minutes: float, facts: Json) -> None:
        instance = f"i-{number:017d}"
        common = {"version": 1, "record": record, "agent": "1", "cluster": "draft", "instance": instance, "group": group}
        names = {"node": f"{group}-1", "host": f"ip-10-1-0-{number}", "address": f"10.1.0.{number}"}
        self.log(REPORTS, f"{group}/{instance}", ago(minutes), {**common, **names, **facts})

    def _check(self, operation: str) -> None:
        if operation in self.refused:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not allowed"}}, operation)

    def describe_cluster(self, **_: str) -> Json:
        groups = [
            {
                "InstanceGroupName": name,
                "CurrentCount": count,
                "TargetCount": count,
                "Status": "InService",
                "InstanceType": "ml.x",
            }
            for name, count in (("head", 1), ("work", 2))
        ]
        mode = {"NodeProvisioningMode": "Continuous"} if self.continuous else {}
        return {"ClusterName": "draft-1", "ClusterArn": ARN, "ClusterStatus": "InService", "InstanceGroups": groups, **mode}

    def get_parameter(self, **asked: str) -> Json:
        self._check("get_parameter")
        if self.pointer is None:
            raise ClientError({"Error": {"Code": "ParameterNotFound", "Message": ""}}, "GetParameter")
        assert asked == {"Name": "/hyperpod-cdk/draft/bundle"}
        return {"Parameter": {"Value": self.pointer}}

    def describe_file_systems(self, **asked: Any) -> Json:
        self._check("describe_file_systems")
        return {"FileSystems": [each for each in self.systems if each["FileSystemId"] in asked["FileSystemIds"]]}

    def describe_data_repository_associations(self, **_: Any) -> Json:
        return {"Associations": self.associations}

    def get_metric_statistics(self, **asked: Any) -> Json:
        assert asked["StartTime"] < asked["EndTime"]
        points = [] if self.free_gib is None else [{"Timestamp": NOW, "Sum": self.free_gib * 2**30}]
        return {"Datapoints": points}

    def get_log_events(self, **asked: Any) -> Json:
        lines = [line for stream, _, line in self.logged[asked["logGroupName"]] if stream == asked["logStreamName"]]
        if "nextToken" in asked:
            return {"events": [], "nextForwardToken": asked["nextToken"]}
        return {"events": [{"message": line} for line in lines], "nextForwardToken": "end"}

    def describe_cluster_event(self, **asked: str) -> Json:
        found = next(each for each in self.cluster_events if each["EventId"] == asked["EventId"])
        return {"EventDetails": found}

    def describe_cluster_operation(self, **asked: str) -> Json:
        return next(each for each in self.operations if each["OperationId"] == asked["OperationId"])

    def get_paginator(self, operation: str) -> Any:
        if operation == "describe_data_repository_associations":  # as botocore
            raise OperationNotPageableError(operation_name=operation)
        return Paginator(self, operation)

    def page(self, operation: str, asked: Json) -> Json:
        """The only page of an operation's answer."""
        self._check(operation)
        if "log" in operation:
            return self._log_page(operation, asked)
        match operation:
            case "list_cluster_events":
                return {"Events": [{k: v for k, v in each.items() if k != "EventDetails"} for each in self.cluster_events]}
            case "list_cluster_operations":
                return {"ClusterOperationSummaries": self.operations}
            case "describe_alarms":
                return {"MetricAlarms": [each for each in self.alarms if each["AlarmName"] in asked["AlarmNames"]]}
            case "describe_alarm_history":
                return {"AlarmHistoryItems": [each for each in self.history if each["AlarmName"] == asked["AlarmName"]]}
            case "describe_stack_events":
                return {"StackEvents": [each for each in self.stack_events if asked["StackName"] == self.name]}
            case "list_compute_quotas" | "list_cluster_scheduler_configs":
                return self._governance_page(operation, asked)
        assert operation == "list_cluster_nodes"
        return {"ClusterNodeSummaries": self.nodes}

    def _governance_page(self, operation: str, asked: Json) -> Json:
        assert asked == {"ClusterArn": ARN}
        resource = {"list_compute_quotas": "ComputeQuota"}.get(operation, "ClusterSchedulerConfig")
        found = self.quotas if resource == "ComputeQuota" else self.schedulers
        return {f"{resource}Summaries": [{key: value for key, value in each.items() if key != "FailureReason"} for each in found]}

    def describe_compute_quota(self, **asked: str) -> Json:
        self._check("describe_compute_quota")
        return next(each for each in self.quotas if each["ComputeQuotaId"] == asked["ComputeQuotaId"])

    def describe_cluster_scheduler_config(self, **asked: str) -> Json:
        return next(each for each in self.schedulers if each["ClusterSchedulerConfigId"] == asked["ClusterSchedulerConfigId"])

    def _log_page(self, operation: str, asked: Json) -> Json:
        match operation:
            case "filter_log_events":
                return self._lines(**asked)
            case "describe_log_groups":
                return {"logGroups": [{"logGroupName": name, "creationTime": 1} for name in self.logged]}
            case "describe_log_streams":
                if asked["logGroupName"] not in self.logged:
                    raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": ""}}, "DescribeLogStreams")
                streams = dict.fromkeys(stream for stream, *_ in self.logged[asked["logGroupName"]])
                found = [name for name in streams if name.startswith(asked.get("logStreamNamePrefix", ""))]
                return {"logStreams": [{"logStreamName": name, "creationTime": 1} for name in found]}
        raise AssertionError(operation)

    def _lines(self, **asked: Any) -> Json:
        if asked["logGroupName"] not in self.logged:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": ""}}, "FilterLogEvents")
        found = [
            {"logStreamName": stream, "timestamp": _ms(time), "ingestionTime": _ms(self.ingested or time), "message": line}
            for stream, time, line in self.logged[asked["logGroupName"]]
            if time.timestamp() * 1000 >= asked["startTime"] and stream.startswith(asked.get("logStreamNamePrefix", ""))
        ]
        return {"events": found}


def _ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)


@dataclass(frozen=True)
class Paginator:
    """A paginator of one operation."""

    account: FakeOperations
    operation: str

    def paginate(self, **asked: Any) -> Iterator[Json]:
        yield self.account.page(self.operation, asked)


def node(group: str, number: int, status: str = "Running", message: str = "") -> Json:
    """A node in ListClusterNodes."""
    return {
        "InstanceId": f"i-{number:017d}",
        "InstanceGroupName": group,
        "PrivateDnsHostname": f"ip-10-1-0-{number}.us-west-2.compute.internal",
        "InstanceStatus": {"Status": status, "Message": message},
        "CurrentImageReleaseVersion": "1.2.3",
        "ImageVersionStatus": "UpToDate",
    }


def slurm(*problems: Json, **facts: Any) -> Json:
    """Slurm's view in a controller's report."""
    counts = {"slurmctld": 1, "slurmdbd": None, "nodes": 2, "idle": 2 - len(problems), "allocated": 0}
    return {"slurm": {**counts, "drained": len(problems), "down": 0, "problems": list(problems), **facts}}


DRAINED = {"host": "ip-10-1-0-3", "state": "idle+drain", "reason": "gres/gpu count reported lower than configured (0 < 1)"}
