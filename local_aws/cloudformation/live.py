"""The live properties of some resource types, in the form of their templates, for drift detection.

A reader returns the properties that it can read; None if the resource no longer exists. CloudFormation compares only properties
that the template sets.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from botocore.exceptions import ClientError

from local_aws.cloudformation import clients
from local_aws.cloudformation.template import Json

Reader = Callable[[str, str], Json | None]
_GONE = ("NoSuch", "NotFound", "ParameterNotFound")


def _role(region: str, name: str) -> Json:
    iam = clients.client("iam", region)
    role = iam.get_role(RoleName=name)["Role"]
    attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    names = iam.list_role_policies(RoleName=name)["PolicyNames"]
    inline = {policy: iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"] for policy in names}
    return {
        "AssumeRolePolicyDocument": _document(role["AssumeRolePolicyDocument"]),
        "Description": role.get("Description"),
        "ManagedPolicyArns": [policy["PolicyArn"] for policy in attached],
        "MaxSessionDuration": role.get("MaxSessionDuration"),
        "Path": role.get("Path"),
        "RoleName": name,
        "Policies": [{"PolicyName": policy, "PolicyDocument": _document(text)} for policy, text in inline.items()],
        "Tags": _own(role.get("Tags")),
    }


def _log_group(region: str, name: str) -> Json | None:
    found = clients.client("logs", region).describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    group = next((each for each in found if each["logGroupName"] == name), None)
    return group and {
        "LogGroupName": name,
        "RetentionInDays": group.get("retentionInDays"),
        "KmsKeyId": group.get("kmsKeyId"),
    }


def _parameter(region: str, name: str) -> Json:
    ssm = clients.client("ssm", region)
    value = ssm.get_parameter(Name=name)["Parameter"]
    filters = [{"Key": "Name", "Option": "Equals", "Values": [name]}]
    described = ssm.describe_parameters(ParameterFilters=filters)["Parameters"][0]
    return {"Name": name, "Type": value["Type"], "Value": value["Value"], "Description": described.get("Description")}


def _subnet(region: str, subnet: str) -> Json:
    found = clients.client("ec2", region).describe_subnets(SubnetIds=[subnet])["Subnets"][0]
    return {
        **{name: found.get(name) for name in ("AvailabilityZone", "CidrBlock", "MapPublicIpOnLaunch", "VpcId")},
        "Tags": _own(found.get("Tags")),
    }


def _vpc(region: str, vpc: str) -> Json:
    ec2 = clients.client("ec2", region)
    found = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]
    names = {"EnableDnsHostnames": "enableDnsHostnames", "EnableDnsSupport": "enableDnsSupport"}
    flags = {name: ec2.describe_vpc_attribute(VpcId=vpc, Attribute=attribute)[name]["Value"] for name, attribute in names.items()}
    return {"CidrBlock": found["CidrBlock"], **flags, "Tags": _own(found.get("Tags"))}


READERS: dict[str, Reader] = {
    "AWS::EC2::Subnet": _subnet,
    "AWS::EC2::VPC": _vpc,
    "AWS::IAM::Role": _role,
    "AWS::Logs::LogGroup": _log_group,
    "AWS::SSM::Parameter": _parameter,
}


def live(resource_type: str, region: str, physical_id: str) -> Json | None:
    """Return the live properties of a resource whose type has a reader; None if it was deleted."""
    try:
        return READERS[resource_type](region, physical_id)
    except ClientError as error:
        if any(gone in error.response["Error"]["Code"] for gone in _GONE):
            return None
        raise


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[Json]:
    """Yield the differences below a property, as DescribeStackResourceDrifts shows them."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted({*expected, *actual}):
            yield from differences(expected.get(name), actual.get(name), f"{path}/{name}")
    elif _comparable(expected) != _comparable(actual):
        kind = "ADD" if expected is None else "REMOVE" if actual is None else "NOT_EQUAL"
        yield {"PropertyPath": path, "ExpectedValue": _text(expected), "ActualValue": _text(actual), "DifferenceType": kind}


def compared(expected: Json, actual: Json) -> tuple[Json, Json]:
    """Return the properties that the template sets and a reader can read, as expected and as they are."""
    names = [name for name in expected if name in actual]
    return {name: expected[name] for name in names}, {name: actual[name] for name in names}


def _comparable(value: Any) -> Any:
    """Return a value without the differences that do not count: order of lists, numbers and booleans as text, and no value."""
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items()}
    if isinstance(value, list):
        return sorted((_comparable(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True, default=str))
    return None if value in ("", None) else str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _document(policy: Any) -> Any:
    return json.loads(unquote(policy)) if isinstance(policy, str) else policy


def _own(tags: list[dict[str, str]] | None) -> list[dict[str, str]]:
    """Return the tags without CloudFormation's."""
    return [{"Key": tag["Key"], "Value": tag["Value"]} for tag in tags or () if not tag["Key"].startswith("aws:")]
