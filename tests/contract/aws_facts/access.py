"""Facts of IAM, STS and the policies of buckets: how policies are evaluated, and who may assume a role."""

from typing import Any

from tests.contract.aws_facts.engine import EVERYTHING, Engine, Json, document
from tests.contract.aws_facts.fact import documented, fact, refusal
from tests.contract.aws_facts.storage import bucket

LOGIC, CONDITIONS = "IAM user guide: policy evaluation logic", "IAM user guide: condition operators"
BOUNDARIES, ASSUME = "IAM user guide: permissions boundaries", "AWS STS API reference: AssumeRole"
STS_TESTS, IAM_TESTS = "LocalStack's recording sts/test_sts.py", "LocalStack's recording iam/test_iam.py"
READ, REGION, TAG = "ssm:GetParameter", "aws:RequestedRegion", "aws:RequestTag/absent"


def allow(action: str = READ, **more: Any) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", **more}


def when(operator: str, key: str, *values: str) -> Json:
    return allow(Condition={operator: {key: list(values)}})


DENY = {**allow(), "Effect": "Deny"}
NOT_OTHERS = {"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}
NOT_THERE = {"Effect": "Deny", "Action": READ, "NotResource": "arn:aws:ssm:*:*:parameter/elsewhere/*"}
TWO_KEYS = allow(Condition={"StringLike": {REGION: "*"}, "StringEquals": {"aws:PrincipalType": "User"}})
# A judge sees by this call that a new role's policies are in force.
BEGUN = allow("ssm:DescribeParameters")


def role(judge: Engine, *statements: Json) -> str:
    """Return the ARN of a new role, which this account may assume."""
    arn, account = judge.role(BEGUN, *statements), judge.client("sts").get_caller_identity()["Account"]
    trust = document({"Effect": "Allow", "Principal": {"AWS": account}, "Action": "sts:AssumeRole"})
    judge.client("iam").update_assume_role_policy(RoleName=name_of(arn), PolicyDocument=trust)
    return arn


def name_of(arn: str) -> str:
    return arn.rpartition("/")[2]


def assumed(judge: Engine, arn: str, service: str) -> Any:
    """Return a client with the credentials of a session of the role."""
    sts, request = judge.client("sts"), {"RoleArn": arn, "RoleSessionName": "me"}
    judge.until(lambda: refusal(sts.assume_role, **request) == "accepted")
    keys = sts.assume_role(**request)["Credentials"]
    named = {"access_key_id": "AccessKeyId", "secret_access_key": "SecretAccessKey", "session_token": "SessionToken"}
    return judge.client_with(service, **{f"aws_{name}": keys[member] for name, member in named.items()})


def verdict(judge: Engine, *statements: Json, limit: str = "") -> str:
    """Return whether a role with these statements, and a boundary, may read a parameter, which does not exist."""
    arn = role(judge, *statements)
    if limit:
        judge.client("iam").put_role_permissions_boundary(RoleName=name_of(arn), PermissionsBoundary=limit)
    ssm = assumed(judge, arn, "ssm")
    judge.until(lambda: refusal(ssm.describe_parameters) == "accepted")
    answer = refusal(ssm.get_parameter, Name=f"/{judge.name()}")
    return {"ParameterNotFound": "allowed", "AccessDeniedException": "denied"}[answer]


def policy(name: str, says: str, source: str, expected: str, *statements: Json) -> None:
    """Register a fact about the verdict on statements."""
    documented(f"iam-logic-{name}", says, source, expected=expected)(lambda judge: verdict(judge, *statements))


policy("allow", "a statement allows", LOGIC, "allowed", allow())
policy("deny-wins", "a Deny wins over an Allow", LOGIC, "denied", DENY, EVERYTHING)
policy("wildcard", "an action may have wildcards", LOGIC, "allowed", allow("ssm:Get*"))
policy("other-action", "another action does not allow", LOGIC, "denied", allow("ssm:GetParameters"))
policy("not-action", "NotAction is all others", LOGIC, "allowed", NOT_OTHERS)
policy("not-resource", "NotResource is all others", LOGIC, "denied", NOT_THERE, EVERYTHING)
policy("condition", "a true condition allows", CONDITIONS, "allowed", when("StringLike", REGION, "*-*-*"))
policy("condition-false", "a false one does not", CONDITIONS, "denied", when("StringEquals", REGION, "nowhere"))
policy("condition-any", "one of the values is enough", CONDITIONS, "allowed", when("StringLike", REGION, "nowhere", "*"))
policy("condition-all", "all keys must hold", CONDITIONS, "denied", TWO_KEYS)
policy("absent-key", "a missing key is not equal", CONDITIONS, "denied", when("StringEquals", TAG, "x"))
policy("absent-key-not-equals", "it is unequal", CONDITIONS, "allowed", when("StringNotEquals", TAG, "x"))
policy("absent-key-if-exists", "IfExists spares it", CONDITIONS, "allowed", when("StringEqualsIfExists", TAG, "x"))
policy("absent-key-for-all", "ForAllValues holds for it", CONDITIONS, "allowed", when("ForAllValues:StringEquals", TAG, "x"))
policy("null", "Null finds it missing", CONDITIONS, "allowed", when("Null", TAG, "true"))
policy("unknown-key", "also one of other services", CONDITIONS, "allowed", when("Null", "s3:TlsVersion", "true"))
documented("iam-session-rights", "who assumes a role has only its rights", ASSUME, expected="denied")(verdict)
documented("iam-trust", "only whom a role trusts may assume it", ASSUME, expected="AccessDenied")(
    lambda judge: refusal(judge.client("sts").assume_role, RoleArn=judge.role(), RoleSessionName="me")
)
fact("iam-session-name", "a session's name has no colon", STS_TESTS, "2025-07-21", "ValidationError")(
    lambda judge: refusal(judge.client("sts").assume_role, RoleArn=role(judge), RoleSessionName="Session1:2")
)
fact("iam-role-policy-json", "a policy is JSON", IAM_TESTS, "2025-03-06", "MalformedPolicyDocument")(
    lambda judge: refusal(judge.client("iam").create_role, RoleName=judge.name(), AssumeRolePolicyDocument="not-json")
)


@documented("iam-boundary", "a boundary limits a role's own policies", BOUNDARIES, expected="denied")
def boundary(judge: Engine) -> str:
    limit = judge.client("iam").create_policy(PolicyName=judge.name(), PolicyDocument=document(BEGUN))["Policy"]["Arn"]
    judge.later(judge.client("iam").delete_policy, PolicyArn=limit)
    return verdict(judge, EVERYTHING, limit=limit)


@documented("iam-session-arn", "a session has its role's and its own name", ASSUME, expected="assumed-role/ROLE/me")
def session_arn(judge: Engine) -> str:
    arn = role(judge)
    return str(assumed(judge, arn, "sts").get_caller_identity()["Arn"].rpartition(":")[2].replace(name_of(arn), "ROLE"))


@fact("iam-simulate", "a simulation names the resource", IAM_TESTS, "2025-04-21", ["allowed", "RESOURCE"])
def simulate(judge: Engine) -> list[str]:
    asked = {"PolicySourceArn": role(judge, EVERYTHING), "ActionNames": ["s3:PutObject"], "ResourceArns": ["arn:aws:s3:::bucket"]}
    found = judge.client("iam").simulate_principal_policy(**asked)["EvaluationResults"][0]
    return [found["EvalDecision"], found["EvalResourceName"].replace(*asked["ResourceArns"], "RESOURCE")]


@documented("s3-deny-owner-list", "a bucket's Deny stops its owner", LOGIC, expected=["accepted", "AccessDenied"])
def deny_owner_list(judge: Engine) -> list[str]:
    s3, name = judge.client("s3"), bucket(judge)
    before = refusal(s3.list_objects_v2, Bucket=name)
    deny = {**DENY, "Principal": "*", "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{name}"}
    s3.put_bucket_policy(Bucket=name, Policy=document(deny))
    return [before, judge.until(lambda: (answer := refusal(s3.list_objects_v2, Bucket=name)) != before and answer)]
