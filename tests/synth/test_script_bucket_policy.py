"""Principals that may write the scripts, given AWS managed policies and the synthesized bucket policy."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from local_aws.iam.documents import statements
from local_aws.iam.policy import Attempt, Principal, Verdict, judge
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized, resolved

DATA = Path(__file__).parent.parent / "data"
ACCOUNT = "123456789012"
BUCKET = f"arn:aws:s3:::sagemaker-reference-{ACCOUNT}-us-west-2"
SCRIPT = f"{BUCKET}/lifecycle/hash/fs-1/lifecycle_script.py"
OTHER = f"arn:aws:iam::{ACCOUNT}:role/other"
EXECUTION = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-us-west-2"
ON_OBJECTS = (
    "s3:PutObject",
    "s3:PutObjectAcl",
    "s3:ReplicateObject",
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
    "s3:UpdateObjectEncryption",
)
ON_THE_BUCKET = (
    "s3:DeleteBucketPolicy",
    "s3:PutBucketAcl",
    "s3:PutBucketCORS",
    "s3:PutBucketObjectLockConfiguration",
    "s3:PutBucketPolicy",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketRequestPayment",
    "s3:PutBucketVersioning",
    "s3:PutLifecycleConfiguration",
    "s3:PutReplicationConfiguration",
)
# What the bucket policy does not deny, by the reason why it changes no script and keeps no node from reading it.
HARMLESS = {
    "the bucket policy still decides on each access through an access point": (
        *("CreateAccessPoint", "DeleteAccessPoint", "DeleteAccessPointPolicy", "PutAccessPointPolicy"),
        *("CreateAccessPointForObjectLambda", "DeleteAccessPointForObjectLambda", "DeleteAccessPointPolicyForObjectLambda"),
        *("PutAccessPointConfigurationForObjectLambda", "PutAccessPointPolicyForObjectLambda"),
        *("CreateMultiRegionAccessPoint", "DeleteMultiRegionAccessPoint", "PutMultiRegionAccessPointPolicy"),
        *("PutAccessPointPublicAccessBlock", "SubmitMultiRegionAccessPointRoutes"),
    ),
    "a grant lends a role, and a job runs with one, on which the bucket policy decides": (
        *("AssociateAccessGrantsIdentityCenter", "DissociateAccessGrantsIdentityCenter"),
        *("CreateAccessGrant", "CreateAccessGrantsInstance", "CreateAccessGrantsLocation", "UpdateAccessGrantsLocation"),
        *("DeleteAccessGrant", "DeleteAccessGrantsInstance", "DeleteAccessGrantsLocation"),
        *("PutAccessGrantsInstanceResourcePolicy", "DeleteAccessGrantsInstanceResourcePolicy"),
        *("CreateJob", "DeleteJobTagging", "PutJobTagging", "UpdateJobPriority", "UpdateJobStatus"),
    ),
    "it reads objects or reports on them": (
        *("CreateBucketMetadataTableConfiguration", "DeleteBucketMetadataTableConfiguration"),
        *("UpdateBucketMetadataInventoryTableConfiguration", "UpdateBucketMetadataJournalTableConfiguration"),
        *("CreateStorageLensGroup", "DeleteStorageLensGroup", "UpdateStorageLensGroup", "PutStorageLensConfiguration"),
        *("DeleteStorageLensConfiguration", "DeleteStorageLensConfigurationTagging", "PutStorageLensConfigurationTagging"),
        *("PutAnalyticsConfiguration", "PutInventoryConfiguration", "PutMetricsConfiguration"),
        *("PutBucketLogging", "PutBucketNotification", "RestoreObject"),
    ),
    "it has no effect without another action, which is denied": (
        *("BypassGovernanceRetention", "DeleteBucket", "InitiateReplication", "PauseReplication"),
        *("ObjectOwnerOverrideToBucketOwner", "PutIntelligentTieringConfiguration"),
    ),
    "nodes use neither tags, nor the website, nor accelerated transfer": (
        *("PutAccelerateConfiguration", "PutBucketAbac", "PutBucketTagging", "TagResource", "UntagResource"),
        *("DeleteBucketWebsite", "PutBucketWebsite"),
    ),
    "the bucket blocks public access by itself": ("PutAccountPublicAccessBlock",),
    "the bucket exists": ("CreateBucket",),
    "a deployment whose upload ends fails, and can be repeated": ("AbortMultipartUpload",),
}
READS = ("Get", "List", "Describe", "HeadObject")

Statement = dict[str, Any]


def role(logical_id: str) -> str:
    """Return an ARN for a role of the template."""
    return f"arn:aws:iam::{ACCOUNT}:role/{logical_id}"


def known(reference: dict[str, Any]) -> Any:
    """Return the account, the ARN of a role or the bucket's ARN."""
    match reference:
        case {"Ref": "AWS::AccountId"}:
            return ACCOUNT
        case {"Fn::GetAtt": [str(name), "Arn"]}:
            return role(name) if "Role" in name else BUCKET
    return reference


def bucket_policy(stack: StackTemplate) -> list[Statement]:
    found: list[Statement] = resolved(stack.properties("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"], known)
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


def granting(action: str, resource: str | None = None) -> set[str]:
    """Return the AWS managed policies that allow the action by themselves."""
    asked = attempt(action)
    asked = replace(asked, resource=resource or asked.resource)
    return {name for name, own in managed_policies().items() if judge(own, asked) is Verdict.ALLOW}


@pytest.mark.parametrize(
    ("action", "granted_at_least"), [("s3:PutObject", 36), ("s3:DeleteObject", 23), ("s3:PutBucketPolicy", 15)]
)
def test_no_aws_managed_policy_lets_a_role_write_to_the_script_bucket(
    variants: Synthesized, action: str, granted_at_least: int
) -> None:
    found = granting(action)
    assert len(found) >= granted_at_least, "policies that the bucket must be protected from"
    assert {"AmazonS3FullAccess", "AdministratorAccess"} <= found
    for cluster in ("same", "kept"):
        for session in ("session", "AWSCloudFormation"):
            assert denied(bucket_policy(variants[cluster, CLUSTER]), action, session=session)


def test_every_action_that_changes_a_bucket_is_denied_or_harmless(policy: list[Statement]) -> None:
    known = json.loads((DATA / "service_authorization.json").read_text())["actions"]["s3"]
    changes = {action for action in known if not action.startswith(READS)}
    refused = {
        action
        for action in changes
        if any(
            judge(policy, replace(attempt(f"s3:{action}"), resource=each), has_principal=True) is Verdict.DENY
            for each in (BUCKET, SCRIPT)
        )
    }
    assert changes - refused == {action for actions in HARMLESS.values() for action in actions}


def test_who_may_move_the_pointer_may_also_become_root_on_a_node() -> None:
    pointer = f"arn:aws:ssm:us-west-2:{ACCOUNT}:parameter/hyperpod-cdk/reference/bundle"
    movers = granting("ssm:PutParameter", pointer)
    assert {"AdministratorAccess", "AmazonSSMFullAccess", "PowerUserAccess"} <= movers
    assert movers <= granting("ssm:StartSession", f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/abcdefghijkl")


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
