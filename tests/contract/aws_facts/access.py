"""Facts of IAM, STS and S3: how policies are evaluated, who may assume a role, and the versions of deleted objects."""

from typing import Any

from tests.contract.aws_facts.engine import Engine, Json
from tests.contract.aws_facts.fact import Fact
from tests.simulator.machinery.account import EVERYTHING, document, refusal

LOGIC, CONDITIONS = "IAM user guide: policy evaluation logic", "IAM user guide: condition operators"
BOUNDARIES, ASSUME = "IAM user guide: permissions boundaries", "AWS STS API reference: AssumeRole"
STS_TESTS, IAM_TESTS = "LocalStack's recording sts/test_sts.py", "LocalStack's recording iam/test_iam.py"
READ, REGION, TAG, KEY = "ssm:GetParameter", "aws:RequestedRegion", "aws:RequestTag/absent", "key"
DELETE, BUCKET = "localstack s3/test_s3_api.py::test_delete_", "arn:aws:s3:::bucket"


def allow(action: str = READ, /, **condition: Json) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", "Condition": condition}


DENY, BEGUN = {**allow(), "Effect": "Deny"}, allow("ssm:DescribeParameters")
NOT_OTHERS = {"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}
NOT_THERE = {"Effect": "Deny", "Action": READ, "NotResource": "arn:aws:ssm:*:*:parameter/elsewhere/*"}
VERDICTS = {"ParameterNotFound": "allowed", "AccessDeniedException": "denied"}
TWO_KEYS = allow(StringLike={REGION: "*"}, StringEquals={"aws:PrincipalType": "User"})


def verdict(judge: Engine, *statements: Json, boundary: Json | None = None) -> str:
    """Return whether a session of a role with these statements may read a parameter, which does not exist."""
    name, owner = judge.name(), {"AWS": judge.sts.get_caller_identity()["Account"]}
    if boundary:  # before the role, as what comes first is deleted last
        limit = judge.iam.create_policy(PolicyName=name, PolicyDocument=document(boundary))["Policy"]["Arn"]
        judge.later(judge.iam.delete_policy, PolicyArn=limit)
    arn = judge.role(name, BEGUN, *statements, Principal=owner)
    if boundary:
        judge.iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=limit)
    judge.until(lambda: refusal(judge.assumed, service="ssm", role=arn) == "accepted")
    ssm = judge.assumed("ssm", arn)
    judge.until(lambda: refusal(ssm.describe_parameters) == "accepted")  # the policies are in force
    return VERDICTS[refusal(ssm.get_parameter, Name=f"/{judge.name()}")]


def policy(name: str, says: str, source: str, expected: str, *statements: Json) -> None:
    """Register a fact about the verdict on statements."""
    Fact(f"iam-logic-{name}", says, source, expected)(lambda judge: verdict(judge, *statements))


policy("allow", "a statement allows", LOGIC, "allowed", allow())
policy("deny-wins", "a Deny wins over an Allow", LOGIC, "denied", DENY, EVERYTHING)
policy("wildcard", "an action may have wildcards", LOGIC, "allowed", allow("ssm:Get*"))
policy("other-action", "another action does not allow", LOGIC, "denied", allow("ssm:GetParameters"))
policy("not-action", "NotAction is all others", LOGIC, "allowed", NOT_OTHERS)
policy("not-resource", "NotResource is all others", LOGIC, "denied", NOT_THERE, EVERYTHING)
policy("condition", "a true condition allows", CONDITIONS, "allowed", allow(StringLike={REGION: "*-*-*"}))
policy("condition-false", "a false condition does not", CONDITIONS, "denied", allow(StringEquals={REGION: "nowhere"}))
policy("condition-any", "one of the values is enough", CONDITIONS, "allowed", allow(StringLike={REGION: ["nowhere", "*"]}))
policy("condition-all", "all keys must hold", CONDITIONS, "denied", TWO_KEYS)
policy("absent-key", "a missing key is not equal", CONDITIONS, "denied", allow(StringEquals={TAG: "x"}))
policy("absent-key-not-equals", "a missing key is unequal", CONDITIONS, "allowed", allow(StringNotEquals={TAG: "x"}))
policy("absent-key-if-exists", "IfExists spares a missing key", CONDITIONS, "allowed", allow(StringEqualsIfExists={TAG: "x"}))
policy("absent-key-for-all", "ForAllValues spares it", CONDITIONS, "allowed", allow(**{"ForAllValues:StringEquals": {TAG: "x"}}))
policy("null", "Null finds a missing key", CONDITIONS, "allowed", allow(Null={TAG: "true"}))
policy("unknown-key", "Null finds a key of another service missing", CONDITIONS, "allowed", allow(Null={"s3:TlsVersion": "true"}))
Fact("iam-session-rights", "who assumes a role has only its rights", ASSUME, "denied")(verdict)
Fact("iam-boundary", "a boundary limits a role's own policies", BOUNDARIES, "denied")(verdict, EVERYTHING, boundary=BEGUN)
Fact("iam-trust", "only whom a role trusts may assume it", ASSUME, "AccessDenied")(
    lambda judge: refusal(judge.sts.assume_role, RoleArn=judge.role(judge.name()), RoleSessionName="me")
)
Fact("iam-session-name", "a session's name has no colon", (STS_TESTS, "2025-07-21"), "ValidationError")(
    lambda judge: refusal(judge.sts.assume_role, RoleArn="arn:a:b:::something/test-role", RoleSessionName="Session1:2")
)
Fact("iam-role-policy-json", "a policy is JSON", (IAM_TESTS, "2025-03-06"), "MalformedPolicyDocument")(
    lambda judge: refusal(judge.iam.create_role, RoleName=judge.name(), AssumeRolePolicyDocument="not-json")
)


@Fact("iam-simulate", "a simulation names the resource", (IAM_TESTS, "2025-04-21"), ["allowed", BUCKET])
def simulate(judge: Engine) -> list[str]:
    asked = {"PolicySourceArn": judge.role(judge.name(), EVERYTHING), "ActionNames": ["s3:PutObject"], "ResourceArns": [BUCKET]}
    [one] = judge.iam.simulate_principal_policy(**asked)["EvaluationResults"]
    return [one["EvalDecision"], one["EvalResourceName"]]


def versioned(judge: Engine, *bodies: bytes, deleted: bool = True) -> str:
    """Return a new bucket with an object that was written some times, and then deleted."""
    name = judge.bucket(judge.name())
    judge.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    for body in bodies:
        judge.s3.put_object(Bucket=name, Key=KEY, Body=body)
    if deleted:
        judge.s3.delete_object(Bucket=name, Key=KEY)
    return name


def hidden(judge: Engine) -> list[Any]:
    """Ask for a deleted object, and the numbers of its versions and marks."""
    found = judge.s3.list_object_versions(Bucket=(name := versioned(judge, b"1", b"2")))
    return [refusal(judge.s3.get_object, Bucket=name, Key=KEY), len(found["Versions"]), len(found["DeleteMarkers"])]


@Fact("s3-deny-owner-list", "a bucket's Deny stops its owner", LOGIC, ["accepted", "AccessDenied"])
def deny_owner_list(judge: Engine) -> list[str]:
    s3, name = judge.s3, judge.bucket(judge.name())
    before = refusal(s3.list_objects_v2, Bucket=name)
    deny = {**DENY, "Principal": "*", "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{name}"}
    s3.put_bucket_policy(Bucket=name, Policy=document(deny))
    return [before, judge.until(lambda: (answer := refusal(s3.list_objects_v2, Bucket=name)) != before and answer)]


KEPT, HIDES = (DELETE + "versioned_bucket_with_objects", "2026-02-21"), (DELETE + "object_versioned", "2026-02-21")
BATCH = (DELETE + "objects_versioned", "2026-02-23")
UNKNOWN = {"Delete": {"Objects": [{"Key": KEY, "VersionId": "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD"}]}}
Fact("s3-bucket-versions", "a bucket with old versions stays", KEPT, "BucketNotEmpty")(
    lambda judge: refusal(judge.s3.delete_bucket, Bucket=versioned(judge, b"1"))
)
Fact("s3-delete-hides", "a deleted object's versions stay", HIDES, ["NoSuchKey", 2, 1])(hidden)


@Fact("s3-batch-wrong-version", "a version that S3 never gave is an error", BATCH, ["NoSuchVersion"])
def wrong_version(judge: Engine) -> list[str]:
    answer = judge.s3.delete_objects(Bucket=versioned(judge, b"1", deleted=False), **UNKNOWN)
    return [each["Code"] for each in answer.get("Errors", [])]
