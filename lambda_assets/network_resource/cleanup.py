"""Delete GuardDuty's endpoint and security group before subnets and VPC go, and name what others put there."""

import time
from collections.abc import Callable
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from cluster_resource.errors import FinalError
from cluster_resource.event import Event, Json
from cluster_resource.response import failure, send, success
from network_resource.foreign_resources import foreign_resources, in_vpc, is_guardduty

PAUSE_S, PAUSES = 5, 50
"""A deleted endpoint keeps its network interfaces for minutes."""


def handler(payload: Json, _: object) -> None:
    """Respond to an event of CloudFormation."""
    event = Event.parse(payload)
    send(event, response_to(event, boto3.client("ec2"), boto3.client("cloudformation")))


def response_to(event: Event, ec2: Any, cloudformation: Any, sleep: Callable[[float], None] = time.sleep) -> Json:
    """Return the response, after the deletions of a Delete.

    A stack that stays also sends one, when an update or its rollback removes the resource.
    """
    key, vpc_id = event.physical_id or event.logical_id, event.properties["VpcId"]
    if event.request_type != "Delete":
        return success(key, "acts only on deletion", None)
    try:
        [stack] = cloudformation.describe_stacks(StackName=event.stack_id)["Stacks"]
        if stack["StackStatus"].startswith("UPDATE"):
            return success(key, "the stack stays", None)
        left = _clean_up(event.properties, vpc_id, ec2, sleep)
    except (BotoCoreError, ClientError, FinalError) as error:
        return failure(key, f"{vpc_id}: {error}; correct the cause, then run `cdk destroy` again")
    fix = "the deployment did not create these; delete them, then run `cdk destroy` again"
    return failure(key, f"{vpc_id} is in use: {'; '.join(left)}; {fix}") if left else success(key, "nothing is left", None)


def _clean_up(properties: Json, vpc_id: str, ec2: Any, sleep: Callable[[float], None]) -> list[str]:
    """Delete what GuardDuty added to the VPC, or to the subnets if the VPC stays, and return what others have there."""
    is_vpc_deleted, subnets = properties["DeletesVpc"] == "true", set(properties["SubnetIds"])
    guarded = [each for each in in_vpc(ec2, "VpcEndpoint", vpc_id) if is_guardduty(each)]
    used = [each for each in guarded if is_vpc_deleted or subnets & set(each["SubnetIds"])]
    parts = {part for each in used for part in (each["VpcEndpointId"], *each["NetworkInterfaceIds"])}
    asked = [each["VpcEndpointId"] for each in used if str(each["State"]).lower() != "deleting"]
    failed = ec2.delete_vpc_endpoints(VpcEndpointIds=asked)["Unsuccessful"] if asked else []
    if failed := [each for each in failed if not each["Error"]["Code"].endswith("NotFound")]:
        raise FinalError(f"GuardDuty's endpoint {', '.join(asked)}: {failed}")
    for _ in range(PAUSES):
        left = parts & {each[f"{noun}Id"] for noun in ("VpcEndpoint", "NetworkInterface") for each in in_vpc(ec2, noun, vpc_id)}
        left = left or (_groups_in_use(ec2, vpc_id) if is_vpc_deleted else set())
        if not left:
            found = foreign_resources(ec2, vpc_id, properties["Cluster"])
            return [each.sentence for each in found if is_vpc_deleted or subnets & set(each.subnet_ids)]
        sleep(PAUSE_S)
    raise FinalError(f"GuardDuty's security group or endpoint {', '.join(sorted(left))}: still being deleted")


def _groups_in_use(ec2: Any, vpc_id: str) -> set[str]:
    """Delete GuardDuty's security groups; return those of which EC2 still knows an interface."""
    used = set()
    for group in filter(is_guardduty, in_vpc(ec2, "SecurityGroup", vpc_id)):
        try:
            ec2.delete_security_group(GroupId=group["GroupId"])
        except ClientError as error:
            if error.response["Error"]["Code"] != "DependencyViolation":
                raise
            used.add(group["GroupId"])
    return used
