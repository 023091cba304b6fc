"""A stack with a cluster in it, as far as the commands ask for them while something is under way or stuck."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

Json = dict[str, Any]


EMPTY = {"list_cluster_operations": "ClusterOperationSummaries", "describe_alarms": "MetricAlarms"}
"""Operations without results, and the member of their answer."""


class FakeStack:
    """Clients for all services at once: `session.client(service)` gives the account itself, with one stack."""

    region_name = "us-west-2"

    def __init__(self, status: str, name: str = "draft-Cluster") -> None:
        self.name = name
        self.status = status
        self.outputs: list[Json] = []
        self.cluster_status = "InService"
        self.resources: list[Json] = []
        self.lines: list[str] = []
        self.events: list[tuple[str, str, str]] = []
        self.continued: list[Json] = []

    def client(self, _: str) -> "FakeStack":
        return self

    def add(self, logical_id: str, kind: str, status: str, physical_id: str = "") -> None:
        """Give the stack a resource."""
        resource = {"LogicalResourceId": logical_id, "ResourceType": kind, "ResourceStatus": status}
        self.resources.append({**resource, "PhysicalResourceId": physical_id, "Timestamp": datetime.now(UTC)})

    def step(self, request: str, elapsed_s: float, **facts: Any) -> None:
        """Write a step's line into the log."""
        line = {"message": "step", "request": request, "elapsed_s": elapsed_s, "nodes": None, "note": "", **facts}
        self.lines += ["START RequestId: 1", json.dumps(line)]

    def describe_stacks(self, **asked: str) -> Json:
        if asked["StackName"] != self.name:
            raise ClientError({"Error": {"Code": "ValidationError", "Message": "Stack does not exist"}}, "DescribeStacks")
        return {"Stacks": [{"StackStatus": self.status, "Outputs": self.outputs}]}

    def describe_stack_resources(self, **_: str) -> Json:
        return {"StackResources": self.resources}

    def continue_update_rollback(self, **asked: Any) -> Json:
        self.continued.append(asked)
        return {}

    def describe_cluster(self, **_: str) -> Json:
        arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
        return {"ClusterName": "draft-1", "ClusterArn": arn, "ClusterStatus": self.cluster_status, "InstanceGroups": []}

    def get_parameter(self, **_: str) -> Json:
        raise ClientError({"Error": {"Code": "ParameterNotFound", "Message": "not found"}}, "GetParameter")

    def get_paginator(self, operation: str) -> "FakeStack":
        self.operation = operation
        return self

    def paginate(self, **asked: Any) -> Iterator[Json]:
        if self.operation == "list_cluster_nodes":
            yield {"ClusterNodeSummaries": []}
            return
        if self.operation == "describe_stack_events":
            names = ("LogicalResourceId", "ResourceStatus", "ResourceStatusReason")
            told = [{name: text for name, text in zip(names, event, strict=True) if text} for event in self.events]
            yield from ({"StackEvents": [event]} for event in reversed(told))
            return
        if self.operation in EMPTY:
            yield {EMPTY[self.operation]: []}
            return
        if asked["logGroupName"] != "steps":
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "no group"}}, "FilterLogEvents")
        yield {"events": [{"logStreamName": "step", "timestamp": 0, "ingestionTime": 0, "message": line} for line in self.lines]}
