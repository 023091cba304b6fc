"""Sessions of roles are held to their policies by every service."""

import contextlib
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import iam
from local_aws.errors import AwsError
from local_aws.testing import ACCOUNT, ask
from tests.simulator.machinery.account import EVERYTHING, Account, arn, document, refusal

TLS_ONLY = {
    "Effect": "Deny",
    "Principal": {"AWS": "*"},
    "Action": "s3:*",
    "Resource": ["arn:aws:s3:::data", "arn:aws:s3:::data/*"],
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}


@pytest.fixture
def bucket(account: Account) -> Account:
    """The account with a bucket of two objects, and a role without rights."""
    account.bucket("data")
    for key in ("mine/x", "other/x"):
        account.s3.put_object(Bucket="data", Key=key, Body=b"content")
    account.role("r")
    return account


def role_arn(name: str = "r") -> str:
    return f"arn:aws:iam::{ACCOUNT}:role/{name}"


def test_the_owner_of_the_account_is_not_held_to_anything(bucket: Account) -> None:
    assert bucket.s3.get_object(Bucket="data", Key="mine/x")["Body"].read() == b"content"


def test_objects_are_guarded_one_by_one(bucket: Account) -> None:
    bucket.allow("r", {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/mine/*"})
    s3 = bucket.as_role(role_arn(), "s3")
    assert s3.get_object(Bucket="data", Key="mine/x")["Body"].read() == b"content"
    assert refusal(s3.get_object, Bucket="data", Key="other/x") == "AccessDenied"
    assert refusal(s3.put_object, Bucket="data", Key="mine/y", Body=b"") == "AccessDenied"
    assert refusal(s3.head_object, Bucket="data", Key="other/x") == "403"


def test_a_listing_is_limited_to_its_prefix(bucket: Account) -> None:
    only_mine = {"StringLike": {"s3:prefix": ["mine/*"]}}
    bucket.allow("r", {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::data", "Condition": only_mine})
    s3 = bucket.as_role(role_arn(), "s3")
    assert [each["Key"] for each in s3.list_objects_v2(Bucket="data", Prefix="mine/")["Contents"]] == ["mine/x"]
    assert refusal(s3.list_objects_v2, Bucket="data", Prefix="other/") == "AccessDenied"
    assert refusal(s3.list_objects_v2, Bucket="data") == "AccessDenied"


def test_copying_needs_the_source_and_the_target(bucket: Account) -> None:
    put = {"Effect": "Allow", "Action": "s3:PutObject*", "Resource": "*"}
    get = {"Effect": "Allow", "Action": "s3:GetObject*", "Resource": "arn:aws:s3:::data/mine/*"}
    bucket.allow("r", put, get)
    s3 = bucket.as_role(role_arn(), "s3")
    s3.copy_object(Bucket="data", Key="copy", CopySource={"Bucket": "data", "Key": "mine/x"})
    assert refusal(s3.copy_object, Bucket="data", Key="copy", CopySource={"Bucket": "data", "Key": "other/x"}) == "AccessDenied"


def test_deleting_several_objects_needs_the_right_to_each(bucket: Account) -> None:
    bucket.allow("r", {"Effect": "Allow", "Action": "s3:DeleteObject", "Resource": "arn:aws:s3:::data/mine/*"})
    s3 = bucket.as_role(role_arn(), "s3")
    answer = s3.delete_objects(Bucket="data", Delete={"Objects": [{"Key": "other/x"}]})
    assert [error["Code"] for error in answer["Errors"]] == ["AccessDenied"]
    s3.delete_objects(Bucket="data", Delete={"Objects": [{"Key": "mine/x"}]})
    assert [each["Key"] for each in bucket.s3.list_objects_v2(Bucket="data")["Contents"]] == ["other/x"]


def test_a_buckets_own_policy_can_let_a_role_in(bucket: Account) -> None:
    grant = {"Effect": "Allow", "Principal": {"AWS": role_arn()}, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(TLS_ONLY, grant))
    assert bucket.as_role(role_arn(), "s3").get_object(Bucket="data", Key="other/x")["Body"].read() == b"content"


def test_a_grant_to_the_whole_account_needs_the_roles_own_policy_too(bucket: Account) -> None:
    grant = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(grant))
    assert refusal(bucket.as_role(role_arn(), "s3").get_object, Bucket="data", Key="mine/x") == "AccessDenied"


def test_a_bucket_that_wants_tls_takes_everybody_because_loopback_stands_in_for_it(bucket: Account) -> None:
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(TLS_ONLY))
    bucket.s3.put_object(Bucket="data", Key="mine/y", Body=b"")
    bucket.allow("r", EVERYTHING)
    bucket.as_role(role_arn(), "s3").put_object(Bucket="data", Key="mine/z", Body=b"")


def test_a_bucket_can_deny_writes_to_all_but_one_role(bucket: Account) -> None:
    """The owner of the account is denied, too; AWS managed policies, which allow by the bucket's name, do not help."""
    writer = bucket.role("writer", EVERYTHING)
    only = {"ArnNotEquals": {"aws:PrincipalArn": [writer]}}
    actions = ["s3:PutObject*", "s3:DeleteObject*"]
    deny = {"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": actions, "Resource": "arn:aws:s3:::data/*", "Condition": only}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(deny))
    bucket.allow("r", EVERYTHING)
    for s3 in (bucket.s3, bucket.as_role(role_arn(), "s3")):
        assert refusal(s3.put_object, Bucket="data", Key="mine/x", Body=b"") in ("AccessDenied", "403")
        assert refusal(s3.delete_object, Bucket="data", Key="mine/x") in ("AccessDenied", "403")
    bucket.as_role(writer, "s3").put_object(Bucket="data", Key="mine/x", Body=b"new")
    bucket.as_role(writer, "s3").delete_object(Bucket="data", Key="mine/x")


def test_a_buckets_settings_can_be_left_to_cloudformations_sessions(bucket: Account) -> None:
    others = {
        "ArnNotLike": {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:root"},
        "StringNotLike": {"aws:userid": "*:AWSCloudFormation"},
    }
    settings = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutBucketVersioning", "Resource": "arn:aws:s3:::data"}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document({**settings, "Condition": others}))
    bucket.allow("r", EVERYTHING)
    enabled = {"Bucket": "data", "VersioningConfiguration": {"Status": "Enabled"}}
    assert refusal(bucket.as_role(role_arn(), "s3").put_bucket_versioning, **enabled) == "AccessDenied"
    bucket.as_role(role_arn(), "s3", name="AWSCloudFormation").put_bucket_versioning(**enabled)


MACHINE = arn("states", "stateMachine:m")
CALLS: list[tuple[str, str, dict[str, Any], str]] = [
    ("logs", "create_log_stream", {"logGroupName": "/g", "logStreamName": "s"}, "AccessDeniedException"),
    ("stepfunctions", "list_executions", {"stateMachineArn": arn("states", "stateMachine:m")}, "AccessDeniedException"),
    ("lambda", "invoke", {"FunctionName": "f"}, "AccessDeniedException"),
    ("ec2", "describe_vpcs", {}, "UnauthorizedOperation"),
    ("iam", "get_role", {"RoleName": "r"}, "AccessDenied"),
    ("cloudwatch", "put_metric_data", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1}]}, "AccessDenied"),
    ("ssm", "get_parameter", {"Name": "/p"}, "AccessDeniedException"),
    ("events", "put_rule", {"Name": "r", "EventPattern": "{}"}, "AccessDeniedException"),
]


@pytest.mark.parametrize(("service", "operation", "parameters", "code"), CALLS)
def test_every_protocol_says_no_in_its_own_way(
    account: Account, service: str, operation: str, parameters: dict[str, Any], code: str
) -> None:
    account.role("r")
    with pytest.raises(ClientError) as caught:
        getattr(account.as_role(role_arn(), service), operation)(**parameters)
    error = caught.value.response["Error"]
    assert error["Code"] == code
    assert f"User: arn:aws:sts::{ACCOUNT}:assumed-role/r/test is not authorized to perform: " in error["Message"]
    assert "because no identity-based policy allows the" in error["Message"]


RESOURCES: list[tuple[str, str, dict[str, Any], tuple[str, str]]] = [
    ("logs", "describe_log_streams", {"logGroupName": "/g"}, ("logs:DescribeLogStreams", arn("logs", "log-group:/g:*"))),
    ("lambda", "get_policy", {"FunctionName": "f"}, ("lambda:GetPolicy", arn("lambda", "function:f"))),
    ("ssm", "get_parameter", {"Name": "/a/b"}, ("ssm:GetParameter", arn("ssm", "parameter/a/b"))),
    ("iam", "get_role", {"RoleName": "other"}, ("iam:GetRole", f"arn:aws:iam::{ACCOUNT}:role/other")),
    ("stepfunctions", "describe_state_machine", {"stateMachineArn": MACHINE}, ("states:*", MACHINE)),
]


@pytest.mark.parametrize(("service", "operation", "parameters", "right"), RESOURCES)
def test_a_right_to_one_resource_is_enough_and_to_another_is_not(
    account: Account, service: str, operation: str, parameters: dict[str, Any], right: tuple[str, str]
) -> None:
    action, resource = right
    account.role("r", {"Effect": "Allow", "Action": action, "Resource": resource})
    call = getattr(account.as_role(role_arn(), service), operation)
    answer = refusal(call, **parameters)
    assert answer != "accepted"
    assert "Denied" not in answer  # there is no such thing, but that may be known
    account.allow("r", {"Effect": "Allow", "Action": action, "Resource": resource + "-other"})
    assert "Denied" in refusal(call, **parameters)


def test_who_one_is_may_always_be_asked(account: Account) -> None:
    account.role("r", {"Effect": "Deny", "Action": "*", "Resource": "*"})
    assert account.as_role(role_arn(), "sts").get_caller_identity()["Arn"].endswith(":assumed-role/r/test")


def test_a_metrics_namespace_can_be_asked_for(account: Account) -> None:
    only = {"StringEquals": {"cloudwatch:namespace": "Mine"}}
    account.role("r", {"Effect": "Allow", "Action": "cloudwatch:PutMetricData", "Resource": "*", "Condition": only})
    put = account.as_role(role_arn(), "cloudwatch").put_metric_data
    put(Namespace="Mine", MetricData=[{"MetricName": "m", "Value": 1}])
    assert refusal(put, Namespace="Other", MetricData=[{"MetricName": "m", "Value": 1}]) == "AccessDenied"


def test_an_attached_policy_of_awss_counts(account: Account) -> None:
    account.role("r")
    account.iam.attach_role_policy(RoleName="r", PolicyArn="arn:aws:iam::aws:policy/AmazonEC2ReadOnlyAccess")
    account.as_role(role_arn(), "ec2").describe_vpcs()


def test_an_enforced_role_that_assumes_another_needs_the_right_and_its_trust(account: Account) -> None:
    account.role("r", {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "*"})
    sts = account.as_role(role_arn(), "sts")
    account.role("closed", EVERYTHING)
    assert refusal(sts.assume_role, RoleArn=role_arn("closed"), RoleSessionName="next") == "AccessDenied"
    account.role("open", {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}, Principal={"AWS": role_arn()})
    account.assumed("logs", role_arn("open"), sts).describe_log_groups()
    assert refusal(account.assumed("ec2", role_arn("open"), sts).describe_vpcs) == "UnauthorizedOperation"


def test_trust_is_evaluated_with_its_conditions(account: Account) -> None:
    account.role("r", principal="sagemaker.amazonaws.com", Condition={"StringEquals": {"aws:SourceAccount": ACCOUNT}})
    assert iam.role_trusts(ACCOUNT, role_arn(), "sagemaker.amazonaws.com", {"aws:SourceAccount": ACCOUNT})
    assert not iam.role_trusts(ACCOUNT, role_arn(), "sagemaker.amazonaws.com", {"aws:SourceAccount": "999999999999"})
    assert not iam.role_trusts(ACCOUNT, role_arn(), "sagemaker.amazonaws.com")
    assert not iam.role_trusts(ACCOUNT, role_arn(), "lambda.amazonaws.com", {"aws:SourceAccount": ACCOUNT})
    assert not iam.role_trusts(ACCOUNT, role_arn("missing"), "sagemaker.amazonaws.com")


def test_a_module_can_ask_with_what_only_it_knows(account: Account) -> None:
    mine = {"StringEquals": {"aws:ResourceTag/owner": "me"}}
    account.role("r", {"Effect": "Allow", "Action": "sagemaker:DeleteCluster", "Resource": "*", "Condition": mine})
    key = iam.assume(ACCOUNT, role_arn(), "lambda.amazonaws.com", "test").access_key
    cluster = arn("sagemaker", "cluster/abc")
    iam.authorize(ACCOUNT, key, "sagemaker:DeleteCluster", cluster, {"aws:ResourceTag/owner": "me"})
    for tags in ({"aws:ResourceTag/owner": "you"}, {}):
        with pytest.raises(AwsError, match="is not authorized to perform: sagemaker:DeleteCluster"):
            iam.authorize(ACCOUNT, key, "sagemaker:DeleteCluster", cluster, tags)
    iam.authorize(ACCOUNT, "owner", "sagemaker:DeleteCluster", cluster, {})


def test_a_role_that_is_deleted_takes_its_sessions_rights_along(account: Account) -> None:
    account.role("r", EVERYTHING)
    logs = account.as_role(role_arn(), "logs")
    logs.describe_log_groups()
    account.iam.delete_role_policy(RoleName="r", PolicyName="policy")
    account.iam.delete_role(RoleName="r")
    assert refusal(logs.describe_log_groups) == "AccessDeniedException"


def test_every_decision_is_on_record(account: Account) -> None:
    account.role("r")
    ask("iam", "DELETE")
    refusal(account.as_role(role_arn(), "ec2").describe_vpcs)
    decision = ask("iam")[-1]
    assert {key: decision[key] for key in ("action", "resource", "role", "allowed")} == {
        "action": "ec2:DescribeVpcs",
        "resource": "*",
        "role": role_arn(),
        "allowed": False,
    }
    assert json.dumps(ask("iam"))


def test_a_deny_of_a_bucket_policy_holds_for_calls_on_the_bucket(bucket: Account) -> None:
    actions = ["s3:PutBucketVersioning", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy"]
    deny = {"Effect": "Deny", "Principal": "*", "Action": actions, "Resource": "arn:aws:s3:::data"}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(deny))
    trust = document({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}})
    bucket.iam.create_role(RoleName="alice", AssumeRolePolicyDocument=trust)
    bucket.iam.attach_role_policy(RoleName="alice", PolicyArn="arn:aws:iam::aws:policy/AmazonS3FullAccess")
    versioning = {"Bucket": "data", "VersioningConfiguration": {"Status": "Suspended"}}
    for s3 in (bucket.assumed("s3", role_arn("alice")), bucket.s3):
        assert refusal(s3.put_bucket_versioning, **versioning) == "AccessDenied"
    assert refusal(bucket.assumed("s3", role_arn("alice")).delete_bucket_policy, Bucket="data") == "AccessDenied"
    bucket.s3.delete_bucket_policy(Bucket="data")  # the root user always may
    bucket.s3.put_bucket_versioning(**versioning)


SETTINGS: list[tuple[str, str, dict[str, Any]]] = [  # IAM's names: service authorization reference, Amazon S3
    (
        "s3:PutEncryptionConfiguration",
        "put_bucket_encryption",
        {"ServerSideEncryptionConfiguration": {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}},
    ),
    ("s3:PutEncryptionConfiguration", "delete_bucket_encryption", {}),
    ("s3:GetEncryptionConfiguration", "get_bucket_encryption", {}),
    (
        "s3:PutBucketPublicAccessBlock",
        "put_public_access_block",
        {"PublicAccessBlockConfiguration": {"BlockPublicAcls": False}},
    ),
    ("s3:PutBucketPublicAccessBlock", "delete_public_access_block", {}),
    (
        "s3:PutBucketOwnershipControls",
        "put_bucket_ownership_controls",
        {"OwnershipControls": {"Rules": [{"ObjectOwnership": "ObjectWriter"}]}},
    ),
    ("s3:PutReplicationConfiguration", "delete_bucket_replication", {}),
    ("s3:PutLifecycleConfiguration", "delete_bucket_lifecycle", {}),
    ("s3:PutBucketCORS", "delete_bucket_cors", {}),
    ("s3:PutBucketAcl", "put_bucket_acl", {"ACL": "public-read"}),
    ("s3:DeleteBucket", "delete_bucket", {}),
]


@pytest.mark.parametrize(("action", "operation", "parameters"), SETTINGS)
def test_a_deny_of_a_buckets_setting_holds_for_roles_users_and_the_root_user(
    bucket: Account, action: str, operation: str, parameters: dict[str, Any]
) -> None:
    deny = {"Effect": "Deny", "Principal": "*", "Action": action, "Resource": "arn:aws:s3:::data"}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(deny))
    bucket.allow("r", EVERYTHING)
    for s3 in (bucket.as_role(role_arn(), "s3"), bucket.s3, user(bucket, "s3")):
        assert refusal(getattr(s3, operation), Bucket="data", **parameters) == "AccessDenied"


def test_a_right_to_one_setting_of_a_bucket_is_no_right_to_create_buckets(bucket: Account) -> None:
    bucket.allow("r", {"Effect": "Allow", "Action": "s3:PutBucketPublicAccessBlock", "Resource": "*"})
    s3 = bucket.as_role(role_arn(), "s3")
    s3.put_public_access_block(Bucket="data", PublicAccessBlockConfiguration={"BlockPublicAcls": True})
    assert refusal(s3.create_bucket, Bucket="other") == "AccessDenied"


def test_a_user_is_not_the_root_user_for_a_bucket_or_a_role(bucket: Account) -> None:
    """The script bucket's policy has such a statement: it spares the root user."""
    spared = {"ArnNotLike": {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:root"}}
    targets = ["arn:aws:s3:::data", "arn:aws:s3:::data/*"]
    actions = ["s3:PutBucketPolicy", "s3:DeleteBucketPolicy", "s3:PutObject"]
    deny = {"Effect": "Deny", "Principal": "*", "Action": actions, "Resource": targets, "Condition": spared}
    bucket.s3.put_bucket_policy(Bucket="data", Policy=document(deny))
    s3 = user(bucket, "s3")
    assert refusal(s3.put_object, Bucket="data", Key="mine/x", Body=b"") in ("AccessDenied", "403")
    assert refusal(s3.delete_bucket_policy, Bucket="data") == "AccessDenied"
    bucket.s3.delete_bucket_policy(Bucket="data")

    only_ann = {"AWS": f"arn:aws:iam::{ACCOUNT}:user/ann"}
    trust = document({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": only_ann})
    bucket.iam.create_role(RoleName="anns", AssumeRolePolicyDocument=trust)
    request = {"RoleArn": role_arn("anns"), "RoleSessionName": "me"}
    assert refusal(user(bucket, "sts").assume_role, **request) == "AccessDenied"
    assert refusal(bucket.sts.assume_role, **request) == "AccessDenied"
    user(bucket, "sts", "ann").assume_role(**request)


def user(account: Account, service: str, name: str = "u") -> Any:
    """A client of a new IAM user."""
    with contextlib.suppress(account.iam.exceptions.EntityAlreadyExistsException):
        account.iam.create_user(UserName=name)
    made = account.iam.create_access_key(UserName=name)["AccessKey"]
    return account.with_keys(service, aws_access_key_id=made["AccessKeyId"], aws_secret_access_key=made["SecretAccessKey"])
