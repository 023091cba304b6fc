"""Principals that may write the scripts, given AWS managed policies and the synthesized bucket policy."""

import json
from functools import cache
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from local_aws.iam.documents import statements
from local_aws.iam.policy import Attempt, Principal, Verdict, judge
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized

ACCOUNT = "123456789012"
BUCKET = f"arn:aws:s3:::sagemaker-reference-{ACCOUNT}-us-west-2"
SCRIPT = f"{BUCKET}/lifecycle/hash/fs-1/lifecycle_script.py"
OTHER = f"arn:aws:iam::{ACCOUNT}:role/other"
EXECUTION = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-us-west-2"
ON_OBJECTS = ("s3:PutObject", "s3:PutObjectAcl", "s3:ReplicateObject", "s3:DeleteObject", "s3:DeleteObjectVersion")
ON_THE_BUCKET = (
    "s3:DeleteBucketPolicy",
    "s3:PutBucketAcl",
    "s3:PutBucketCORS",
    "s3:PutBucketPolicy",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketVersioning",
    "s3:PutLifecycleConfiguration",
    "s3:PutReplicationConfiguration",
)

Statement = dict[str, Any]


def role(logical_id: str) -> str:
    """Return an ARN for a role of the template."""
    return f"arn:aws:iam::{ACCOUNT}:role/{logical_id}"


def resolved(value: Any) -> Any:
    """Return the value with references of the template resolved."""
    match value:
        case {"Ref": "AWS::AccountId"}:
            return ACCOUNT
        case {"Fn::GetAtt": [str(name), "Arn"]}:
            return role(name) if "Role" in name else BUCKET
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(map(resolved, parts))
        case dict():
            return {key: resolved(each) for key, each in value.items()}
        case list():
            return [resolved(each) for each in value]
    return value


def bucket_policy(stack: StackTemplate) -> list[Statement]:
    found: list[Statement] = resolved(stack.properties("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"])
    return found


@cache
def managed_policies() -> dict[str, list[Statement]]:
    """Return the statements of all AWS managed policies in moto."""
    return {name: statements(policy["Document"]) for name, policy in json.loads(aws_managed_policies_data).items()}


def attempt(action: str, principal: str = OTHER, session: str = "session") -> Attempt:
    context = {
        "aws:principalaccount": ACCOUNT,
        "aws:principalarn": principal,
        "aws:resourceaccount": ACCOUNT,
        "aws:requestedregion": "us-west-2",
        "aws:securetransport": "true",
        "aws:userid": f"AROAEXAMPLE:{session}",
        "s3:resourceaccount": ACCOUNT,
    }
    resource = SCRIPT if action in ON_OBJECTS else BUCKET
    return Attempt(Principal(ACCOUNT, principal), action, resource, {key: (value,) for key, value in context.items()})


def denied(policy: list[Statement], action: str, principal: str = OTHER, session: str = "session") -> bool:
    return judge(policy, attempt(action, principal, session), has_principal=True) is Verdict.DENY


@pytest.fixture
def policy(variants: Synthesized) -> list[Statement]:
    return bucket_policy(variants["same", CLUSTER])


@pytest.fixture
def deployment(variants: Synthesized) -> str:
    return role(variants["same", CLUSTER].one("AWS::IAM::Role", named="LifecycleDeployment")[0])


@pytest.fixture
def auto_delete(variants: Synthesized) -> str:
    return role(variants["same", CLUSTER].one("AWS::IAM::Role", named="S3AutoDeleteObjects")[0])


@pytest.mark.parametrize(
    ("action", "granted_at_least"), [("s3:PutObject", 36), ("s3:DeleteObject", 23), ("s3:PutBucketPolicy", 15)]
)
def test_no_aws_managed_policy_lets_a_role_write_to_the_script_bucket(
    policy: list[Statement], action: str, granted_at_least: int
) -> None:
    granting = [name for name, own in managed_policies().items() if judge(own, attempt(action)) is Verdict.ALLOW]
    assert len(granting) >= granted_at_least, "policies that the bucket must be protected from"
    assert {"AmazonS3FullAccess", "AdministratorAccess"} <= set(granting)
    assert [name for name in granting if not denied(policy, action)] == []


@pytest.mark.parametrize("action", [*ON_OBJECTS, *ON_THE_BUCKET])
def test_other_roles_cannot_change_scripts_or_the_bucket(policy: list[Statement], action: str) -> None:
    assert denied(policy, action)


def test_the_deployment_adds_scripts_and_deletes_none(policy: list[Statement], deployment: str) -> None:
    assert not denied(policy, "s3:PutObject", deployment)
    assert denied(policy, "s3:DeleteObject", deployment)
    assert denied(policy, "s3:PutBucketPolicy", deployment)


def test_the_auto_delete_function_deletes_all_versions_and_adds_nothing(policy: list[Statement], auto_delete: str) -> None:
    # The function first denies new objects by a statement in the bucket policy.
    allowed = ("s3:DeleteObject", "s3:DeleteObjectVersion", "s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:ListBucketVersions")
    for action in allowed:
        whole_bucket = attempt(action, auto_delete)
        assert judge(policy, whole_bucket, has_principal=True) is Verdict.ALLOW, action
    assert denied(policy, "s3:PutObject", auto_delete)


@pytest.mark.parametrize("action", ON_THE_BUCKET)
def test_cloudformation_and_the_root_user_may_change_and_delete_the_bucket(policy: list[Statement], action: str) -> None:
    assert not denied(policy, action, EXECUTION)
    assert not denied(policy, action, f"arn:aws:iam::{ACCOUNT}:root")
    assert denied(policy, action, session="AWSCloudFormation"), "a session's name is free"


@pytest.mark.parametrize("action", [*ON_OBJECTS, *ON_THE_BUCKET])
def test_only_the_root_user_can_delete_a_retained_bucket(variants: Synthesized, action: str) -> None:
    policy = bucket_policy(variants["kept", CLUSTER])
    assert denied(policy, action)
    assert denied(policy, action, session="AWSCloudFormation")
    assert not denied(policy, "s3:DeleteBucketPolicy", f"arn:aws:iam::{ACCOUNT}:root"), "the policy must be deleted first"


def test_the_bucket_policy_denies_no_reads(policy: list[Statement]) -> None:
    assert not denied(policy, "s3:GetObject")
    assert not denied(policy, "s3:ListBucket")


def test_scripts_are_deployed_after_the_policy_and_deleted_before_it(variants: Synthesized) -> None:
    stack = variants["same", CLUSTER]
    policy, _ = stack.one("AWS::S3::BucketPolicy")
    for kind in ("Custom::LifecycleScripts", "Custom::S3AutoDeleteObjects"):
        assert policy in stack.waits_for(stack.one(kind)[0])
