"""Facts of IAM, STS and the policies of buckets: how policies are evaluated, and who may assume a role."""

from tests.contract.aws_facts.engine import EVERYTHING, Engine, Json, document
from tests.contract.aws_facts.fact import documented, fact, refusal
from tests.contract.aws_facts.storage import bucket

LOGIC, CONDITIONS = "IAM user guide: policy evaluation logic", "IAM user guide: condition operators"
BOUNDARIES, ASSUME = "IAM user guide: permissions boundaries", "AWS STS API reference: AssumeRole"
STS_TESTS, IAM_TESTS = "LocalStack's recording sts/test_sts.py", "LocalStack's recording iam/test_iam.py"
READ, REGION, TAG = "ssm:GetParameter", "aws:RequestedRegion", "aws:RequestTag/absent"


def allow(action: str = READ, /, **condition: Json) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", "Condition": condition}


DENY, BEGUN = {**allow(), "Effect": "Deny"}, allow("ssm:DescribeParameters")
NOT_OTHERS = {"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}
NOT_THERE = {"Effect": "Deny", "Action": READ, "NotResource": "arn:aws:ssm:*:*:parameter/elsewhere/*"}


def verdict(judge: Engine, *statements: Json, boundary: str = "") -> str:
    """Return whether a session of a role with these statements may read a parameter, which does not exist."""
    sts, iam, arn = judge.client("sts"), judge.client("iam"), judge.role(BEGUN, *statements)
    name, request = arn.split("/")[1], {"RoleArn": arn, "RoleSessionName": "judge"}
    owner = {"Effect": "Allow", "Principal": {"AWS": sts.get_caller_identity()["Account"]}, "Action": "sts:AssumeRole"}
    iam.update_assume_role_policy(RoleName=name, PolicyDocument=document(owner))
    if boundary:
        iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=boundary)
    judge.until(lambda: refusal(sts.assume_role, **request) == "accepted")
    keys = sts.assume_role(**request)["Credentials"]
    named = {"access_key_id": "AccessKeyId", "secret_access_key": "SecretAccessKey", "session_token": "SessionToken"}
    ssm = judge.client_with("ssm", **{f"aws_{argument}": keys[member] for argument, member in named.items()})
    judge.until(lambda: refusal(ssm.describe_parameters) == "accepted")  # the policies are in force
    answer = refusal(ssm.get_parameter, Name=f"/{judge.name()}")
    return {"ParameterNotFound": "allowed", "AccessDeniedException": "denied"}[answer]


def policy(name: str, says: str, source: str, expected: str, *statements: Json) -> None:
    """Register a fact about the verdict on statements."""
    documented(f"iam-logic-{name}", says, source, expected=expected)(lambda judge: verdict(judge, *statements))


TWO_KEYS = allow(StringLike={REGION: "*"}, StringEquals={"aws:PrincipalType": "User"})
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
documented("iam-session-rights", "who assumes a role has only its rights", ASSUME, expected="denied")(verdict)
documented("iam-trust", "only whom a role trusts may assume it", ASSUME, expected="AccessDenied")(
    lambda judge: refusal(judge.client("sts").assume_role, RoleArn=judge.role(), RoleSessionName="me")
)
fact("iam-session-name", "a session's name has no colon", STS_TESTS, "2025-07-21", "ValidationError")(
    lambda judge: refusal(judge.client("sts").assume_role, RoleArn="arn:a:b:::something/test-role", RoleSessionName="Session1:2")
)
fact("iam-role-policy-json", "a policy is JSON", IAM_TESTS, "2025-03-06", "MalformedPolicyDocument")(
    lambda judge: refusal(judge.client("iam").create_role, RoleName=judge.name(), AssumeRolePolicyDocument="not-json")
)


@documented("iam-boundary", "a boundary limits a role's own policies", BOUNDARIES, expected="denied")
def boundary(judge: Engine) -> str:
    iam = judge.client("iam")
    limit = iam.create_policy(PolicyName=judge.name(), PolicyDocument=document(BEGUN))["Policy"]["Arn"]
    judge.later(iam.delete_policy, PolicyArn=limit)
    return verdict(judge, EVERYTHING, boundary=limit)


@fact("iam-simulate", "a simulation names the resource", IAM_TESTS, "2025-04-21", ["allowed", "arn:aws:s3:::bucket"])
def simulate(judge: Engine) -> list[str]:
    asked = {"PolicySourceArn": judge.role(), "ActionNames": ["s3:PutObject"], "ResourceArns": ["arn:aws:s3:::bucket"]}
    found = judge.client("iam").simulate_principal_policy(**asked)["EvaluationResults"][0]
    return [found["EvalDecision"], found["EvalResourceName"]]


@documented("s3-deny-owner-list", "a bucket's Deny stops its owner", LOGIC, expected=["accepted", "AccessDenied"])
def deny_owner_list(judge: Engine) -> list[str]:
    s3, name = judge.client("s3"), bucket(judge)
    before = refusal(s3.list_objects_v2, Bucket=name)
    deny = {**DENY, "Principal": "*", "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{name}"}
    s3.put_bucket_policy(Bucket=name, Policy=document(deny))
    return [before, judge.until(lambda: (answer := refusal(s3.list_objects_v2, Bucket=name)) != before and answer)]
