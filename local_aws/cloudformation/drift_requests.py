"""Drift detection: DetectStackDrift compares at once, and the other requests show its result.

Resources of types without a reader (live.py) are not checked, as on AWS resources of types without drift detection.
"""

import json
import uuid

from local_aws.clock import host_now
from local_aws.cloudformation import store
from local_aws.cloudformation.errors import RequestError
from local_aws.cloudformation.live import READERS, compared, differences, live
from local_aws.cloudformation.requests import Call, Operation
from local_aws.cloudformation.stack import Drift, Stack, StackResource
from local_aws.cloudformation.template import Json

_ALLOWED = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED", "IMPORT_COMPLETE")
MODIFIED, DELETED, IN_SYNC, DRIFTED = "MODIFIED", "DELETED", "IN_SYNC", "DRIFTED"


def detect_stack_drift(call: Call) -> Json:
    """Compare the stack's resources with their live properties."""
    stack, only = call.stack(), call.get("LogicalResourceIds")
    if stack.status not in _ALLOWED:
        raise RequestError(f"Drift detection is not allowed for stack {stack.name} in status {stack.status}")
    checked = [each for each in list(stack.resources.values()) if each.type in READERS and only in (None, [], [each.logical_id])]
    stack.drift = Drift(str(uuid.uuid4()), host_now(), [_drift(stack, each) for each in checked])
    return {"StackDriftDetectionId": stack.drift.id}


def describe_stack_drift_detection_status(call: Call) -> Json:
    """Return the result of a detection, which is complete at once."""
    detection = call.get("StackDriftDetectionId", "")
    for stack in store.live(call.account, call.region).values():
        if stack.drift and stack.drift.id == detection:
            drifted = sum(each["StackResourceDriftStatus"] != IN_SYNC for each in stack.drift.resources)
            return {
                "StackId": stack.id,
                "StackDriftDetectionId": detection,
                "StackDriftStatus": DRIFTED if drifted else IN_SYNC,
                "DetectionStatus": "DETECTION_COMPLETE",
                "DriftedStackResourceCount": drifted,
                "Timestamp": stack.drift.time,
            }
    raise RequestError(f"Drift detection ID {detection} does not exist")


def describe_stack_resource_drifts(call: Call) -> Json:
    """Return the checked resources of the last detection, or those in the requested states."""
    stack, wanted = call.stack(), call.get("StackResourceDriftStatusFilters", ())
    found = stack.drift.resources if stack.drift else []
    return {"StackResourceDrifts": [each for each in found if not wanted or each["StackResourceDriftStatus"] in wanted]}


def _drift(stack: Stack, resource: StackResource) -> Json:
    shown = {
        "StackId": stack.id,
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id,
        "ResourceType": resource.type,
        "Timestamp": host_now(),
    }
    actual = live(resource.type, stack.region, resource.physical_id)
    if actual is None:
        return {**shown, "ExpectedProperties": json.dumps(resource.properties), "StackResourceDriftStatus": DELETED}
    want, have = compared(resource.properties, _without_others(stack, actual))
    found = list(differences(want, have))
    return {
        **shown,
        "ExpectedProperties": json.dumps(want),
        "ActualProperties": json.dumps(have),
        "PropertyDifferences": found,
        "StackResourceDriftStatus": MODIFIED if found else IN_SYNC,
    }


def _without_others(stack: Stack, actual: Json) -> Json:
    """Return a role's properties without the policies that other resources of the stack attach to it."""
    others = {each.properties.get("PolicyName") for each in stack.resources.values() if each.type == "AWS::IAM::Policy"}
    if "Policies" not in actual:
        return actual
    return {**actual, "Policies": [each for each in actual["Policies"] if each["PolicyName"] not in others]}


OPERATIONS: dict[str, Operation] = {
    "DescribeStackDriftDetectionStatus": describe_stack_drift_detection_status,
    "DescribeStackResourceDrifts": describe_stack_resource_drifts,
    "DetectStackDrift": detect_stack_drift,
}
