"""The resource types that a deployment needs beside the network: made, changed in place, deleted."""

import json
from base64 import b64encode
from typing import Any

import pytest

from hyperpod_node.follow import rsa
from tests.simulator.cloudformation.conftest import REGION, World

pytestmark = pytest.mark.local

ACCOUNT = "123456789012"
KEY_POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "kms:*", "Resource": "*"}],
}


def _trust(*services: str) -> dict[str, Any]:
    names = [f"{service}.amazonaws.com" for service in services]
    statement = {"Effect": "Allow", "Principal": {"Service": names}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _allow(action: str) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]}


def _machine(seconds: int) -> str:
    states = {
        "W": {"Type": "Wait", "Seconds": seconds, "Next": "F"},
        "F": {"Type": "Task", "Resource": "${Function}", "End": True},
    }
    return json.dumps({"StartAt": "W", "States": states})


def _services(new: bool) -> dict[str, Any]:
    """Every type once; ``new`` changes each where it can change in place."""
    tags = [{"Key": "when", "Value": "new" if new else "old"}]
    function = {
        "Code": {"ZipFile": f"def handler(event, context):\n    return {int(new)}\n"},
        "Handler": "index.handler",
        "Runtime": "python3.13",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "MemorySize": 256 if new else 128,
        "Environment": {"Variables": {"NEW": str(new)}},
        "LoggingConfig": {"LogGroup": {"Ref": "Logs"}},
        "Tags": tags,
    }
    target = {"Arn": {"Fn::GetAtt": ["Function", "Arn"]}, "Id": "new" if new else "old"}
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "Role": (
            "IAM::Role",
            {
                "AssumeRolePolicyDocument": _trust("lambda", "states", *(["events"] if new else [])),
                "Policies": [{"PolicyName": "new" if new else "old", "PolicyDocument": _allow("logs:*")}],
                "ManagedPolicyArns": [{"Ref": "Managed"}] if new else [],
                "Description": "new" if new else "old",
                "Tags": tags,
            },
        ),
        "Inline": ("IAM::Policy", {"PolicyName": "inline", "PolicyDocument": _allow("s3:*"), "Roles": [{"Ref": "Role"}]}),
        "Managed": ("IAM::ManagedPolicy", {"PolicyDocument": _allow("s3:*" if new else "logs:*")}),
        "Key": (
            "KMS::Key",
            {"KeyPolicy": KEY_POLICY, "EnableKeyRotation": new, "Description": "new" if new else "old", "Tags": tags},
        ),
        "Alias": ("KMS::Alias", {"AliasName": "alias/a", "TargetKeyId": {"Ref": "Key"}}),
        "Images": (
            "ECR::Repository",
            {
                "ImageTagMutability": "IMMUTABLE" if new else "MUTABLE",
                "ImageScanningConfiguration": {"ScanOnPush": new},
                "Tags": tags,
            },
        ),
        "Logs": ("Logs::LogGroup", {"Tags": tags, **({"RetentionInDays": 7} if new else {})}),
        "Function": ("Lambda::Function", function),
        "Async": (
            "Lambda::EventInvokeConfig",
            {"FunctionName": {"Ref": "Function"}, "Qualifier": "$LATEST", "MaximumRetryAttempts": 0 if new else 2},
        ),
        "Machine": (
            "StepFunctions::StateMachine",
            {
                "DefinitionString": _machine(2 if new else 1),
                "DefinitionSubstitutions": {"Function": {"Fn::GetAtt": ["Function", "Arn"]}},
                "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                "LoggingConfiguration": {
                    "Level": "ALL" if new else "ERROR",
                    "IncludeExecutionData": False,
                    "Destinations": [{"CloudWatchLogsLogGroup": {"LogGroupArn": {"Fn::GetAtt": ["Logs", "Arn"]}}}],
                },
                "Tags": tags,
            },
        ),
        "Rule": ("Events::Rule", {"EventPattern": {"source": ["aws.new" if new else "aws.old"]}, "Targets": [target]}),
        "Allowed": (
            "Lambda::Permission",
            {
                "FunctionName": {"Ref": "Function"},
                "Action": "lambda:InvokeFunction",
                "Principal": "events.amazonaws.com",
                "SourceArn": {"Fn::GetAtt": ["Rule", "Arn"]},
            },
        ),
        "Bucket": (
            "S3::Bucket",
            {
                "VersioningConfiguration": {"Status": "Enabled"},
                "PublicAccessBlockConfiguration": {"BlockPublicAcls": new},
                "BucketEncryption": {
                    "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
                },
                "Tags": tags,
            },
        ),
        "BucketRules": ("S3::BucketPolicy", {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": _bucket_policy(new)}),
        "Parameter": ("SSM::Parameter", {"Type": "String", "Value": str(new), "Tags": {"when": "new" if new else "old"}}),
        "Metadata": ("CDK::Metadata", {"Analytics": "new" if new else "old"}),
    }
    return {name: {"Type": f"AWS::{kind}", "Properties": properties} for name, (kind, properties) in kinds.items()}


def _bucket_policy(new: bool) -> dict[str, Any]:
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": {"Fn::Sub": "${Bucket.Arn}/*"}}
    insecure = {"Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    return {"Version": "2012-10-17", "Statement": [{"Sid": "New" if new else "Old", **statement, **insecure}]}


def test_every_service_is_made_changed_and_deleted(world: World) -> None:
    assert world.deploy(_services(new=False)) == "CREATE_COMPLETE", world.failures()
    ids = {name: world.physical_id(name) for name in world.resources()}

    assert world.deploy(_services(new=True)) == "UPDATE_COMPLETE", world.failures()

    assert {name: world.physical_id(name) for name in world.resources()} == ids
    _check_changed(world, ids)
    assert world.delete() == "DELETE_COMPLETE"
    assert world.client("lambda").list_functions()["Functions"] == []
    assert world.client("stepfunctions").list_state_machines()["stateMachines"] == []
    assert world.client("events").list_rules()["Rules"] == []
    assert world.client("ecr").describe_repositories()["repositories"] == []
    assert world.client("kms").list_aliases(KeyId=ids["Key"])["Aliases"] == []
    assert world.client("iam").list_policies(Scope="Local")["Policies"] == []


def test_a_key_that_signs_does_so_as_nodes_verify_it(world: World) -> None:
    spec = {"KeyPolicy": KEY_POLICY, "KeySpec": "RSA_3072", "KeyUsage": "SIGN_VERIFY"}
    assert world.deploy({"Key": {"Type": "AWS::KMS::Key", "Properties": spec}}) == "CREATE_COMPLETE", world.failures()
    kms, key = world.client("kms"), world.physical_id("Key")
    signed = kms.sign(KeyId=key, Message=b"text", SigningAlgorithm="RSASSA_PKCS1_V1_5_SHA_256")["Signature"]
    texts = [b64encode(each).decode() for each in (signed, kms.get_public_key(KeyId=key)["PublicKey"])]
    assert [rsa.is_signed(message, *texts) for message in (b"text", b"test")] == [True, False]
    assert world.delete() == "DELETE_COMPLETE"


def _check_changed(world: World, ids: dict[str, str]) -> None:
    iam, role = world.client("iam"), ids["Role"]
    assert sorted(iam.list_role_policies(RoleName=role)["PolicyNames"]) == ["inline", "new"]
    assert [one["PolicyArn"] for one in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]] == [ids["Managed"]]
    assert iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"] == _trust("lambda", "states", "events")
    function = world.client("lambda").get_function_configuration(FunctionName=ids["Function"])
    assert (function["MemorySize"], function["Environment"]["Variables"]) == (256, {"NEW": "True"})
    machine = world.client("stepfunctions").describe_state_machine(stateMachineArn=ids["Machine"])
    states = json.loads(machine["definition"])["States"]
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{ids['Function']}"
    assert (states["W"]["Seconds"], states["F"]["Resource"]) == (2, arn)
    assert machine["loggingConfiguration"]["level"] == "ALL"
    events = world.client("events")
    assert json.loads(events.describe_rule(Name=ids["Rule"])["EventPattern"]) == {"source": ["aws.new"]}
    assert [one["Id"] for one in events.list_targets_by_rule(Rule=ids["Rule"])["Targets"]] == ["new"]
    policy = json.loads(world.client("s3").get_bucket_policy(Bucket=ids["Bucket"])["Policy"])
    assert policy["Statement"][0]["Sid"] == "New"
    (group,) = world.client("logs").describe_log_groups(logGroupNamePrefix=ids["Logs"])["logGroups"]
    assert group["retentionInDays"] == 7
    assert world.client("kms").get_key_rotation_status(KeyId=ids["Key"])["KeyRotationEnabled"] is True
    (repository,) = world.client("ecr").describe_repositories()["repositories"]
    assert repository["imageTagMutability"] == "IMMUTABLE"
