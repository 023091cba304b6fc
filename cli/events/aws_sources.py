"""Events from AWS's services: CloudFormation, SageMaker and CloudWatch alarms."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from cli.aws_errors import is_absent
from cli.deployment import Deployment
from cli.events.event import Event
from cli.events.verdicts import Source
from cli.resource_code import event_failure
from cli.stack_operations import FOLLOWS
from config.operation_names import alarm_names

REFUSED = "ValidationException"
UNSTARTED = "REVIEW_IN_PROGRESS"
"""The state of a stack whose first change set is not executed."""
NEVER_EVALUATED = "Unchecked: Initial alarm creation"
"""The reason of a new alarm's state, which stays until the state changes."""


def stack_events(deployment: Deployment, since: datetime) -> Iterator[Event]:
    """Yield the states of the deployment's stacks, and the failures of their resources."""
    for name in deployment.stack_names:
        for each in _since(deployment, name, since):
            status, reason = each["ResourceStatus"], each.get("ResourceStatusReason") or ""
            is_stack = each["LogicalResourceId"] == name
            if status == UNSTARTED:
                continue
            if is_stack or (status.endswith("_FAILED") and FOLLOWS not in (reason or FOLLOWS)):
                subject = name if is_stack else f"{name} {each['LogicalResourceId']}"
                yield Event(each["Timestamp"], Source.STACK, status, subject, f"{status}: {reason}" if reason else status)


def _since(deployment: Deployment, stack: str, since: datetime) -> Iterator[dict[str, Any]]:
    try:
        for event in deployment.all("cloudformation", "describe_stack_events", "StackEvents", StackName=stack):
            if event["Timestamp"] < since:  # newest first
                return
            yield event
    except ClientError as error:
        if not is_absent(error):
            raise


def cluster_events(deployment: Deployment, cluster: Mapping[str, Any], since: datetime) -> Iterator[Event]:
    """Yield the cluster's own events, which SageMaker keeps only with continuous provisioning."""
    if cluster.get("NodeProvisioningMode") != "Continuous":
        return
    sagemaker, name = deployment.client("sagemaker"), cluster["ClusterName"]
    for each in deployment.all("sagemaker", "list_cluster_events", "Events", ClusterName=name, EventTimeAfter=since):
        level = each.get("EventLevel") or "Info"
        # The list leaves out failures.
        described = {} if level == "Info" else sagemaker.describe_cluster_event(ClusterName=name, EventId=each["EventId"])
        details = described.get("EventDetails", each)
        subject = each.get("InstanceId") or each.get("InstanceGroupName") or ""
        text = event_failure({"Description": details.get("Description"), "EventDetails": details.get("EventDetails")})
        yield Event(each["EventTime"], Source.CLUSTER, level, subject, text or each["ResourceType"])


def operations(deployment: Deployment, cluster: Mapping[str, Any], since: datetime) -> Iterator[Event]:
    """Yield the cluster's operations; SageMaker may refuse to list them for clusters without continuous provisioning."""
    sagemaker, name = deployment.client("sagemaker"), cluster["ClusterName"]
    try:
        asked = {"ClusterName": name, "CreationTimeAfter": since}
        found = list(deployment.all("sagemaker", "list_cluster_operations", "ClusterOperationSummaries", **asked))
    except ClientError as error:
        if error.response["Error"]["Code"] == REFUSED and cluster.get("NodeProvisioningMode") != "Continuous":
            return
        raise
    for each in found:
        details = sagemaker.describe_cluster_operation(ClusterName=name, OperationId=each["OperationId"])
        kind = f"{each['Type']} {each['Status']}"
        yield Event(each["CreationTime"], Source.OPERATION, kind, "", f"{kind}{_scope(details)}")


def _scope(details: Mapping[str, Any]) -> str:
    """Return the groups of an operation, with their counts before and after."""
    scaled = [
        f"{each['InstanceGroupName']} {_count(each.get('Original'))} -> {_count(each.get('Desired'))}"
        for each in details.get("ScalingDetails") or ()
    ]
    checked = [
        f"{each['InstanceGroupName']} {', '.join(each['DeepHealthChecks'])}"
        for each in details.get("DeepHealthCheckDetails") or ()
    ]
    return f": {'; '.join([*scaled, *checked])}" if scaled or checked else ""


def _count(counts: Mapping[str, Any] | None) -> int:
    return int((counts or {}).get("TargetCount") or 0)


def alarm_events(deployment: Deployment, since: datetime) -> Iterator[Event]:
    """Yield the state changes of the deployment's alarms."""
    for alarm in _alarms(deployment):
        asked = {"AlarmName": alarm["AlarmName"], "HistoryItemType": "StateUpdate", "StartDate": since}
        for item in deployment.all("cloudwatch", "describe_alarm_history", "AlarmHistoryItems", **asked):
            state = json.loads(item["HistoryData"])["newState"]
            # The description names the problem of a raised alarm.
            why = "" if state["stateValue"] == "OK" else alarm.get("AlarmDescription") or state.get("stateReason")
            text = ": ".join(filter(None, (state["stateValue"], why)))
            yield Event(item["Timestamp"], Source.ALARM, state["stateValue"], alarm["AlarmName"], text)


def raised(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the alarms that notified of their state: ALARM, or INSUFFICIENT_DATA after another state, without reports."""
    return [each for each in _alarms(deployment) if _is_raised(each)]


def _alarms(deployment: Deployment) -> Iterator[dict[str, Any]]:
    names = alarm_names(deployment.config.name)
    return deployment.all("cloudwatch", "describe_alarms", "MetricAlarms", AlarmNames=names)


def _is_raised(alarm: dict[str, Any]) -> bool:
    state = alarm["StateValue"]
    if state == "INSUFFICIENT_DATA":
        return bool(alarm.get("InsufficientDataActions")) and alarm.get("StateReason") != NEVER_EVALUATED
    return bool(state == "ALARM")
