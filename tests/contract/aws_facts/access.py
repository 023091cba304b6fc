"""Facts of IAM and STS: how policies are evaluated, who may assume a role, and what a policy may be."""

from typing import Any

from tests.contract.aws_facts.engine import EVERYTHING, Engine, Json, document
from tests.contract.aws_facts.fact import Question, documented, fact, refusal

LOGIC = "IAM user guide: policy evaluation logic"
CONDITIONS = "IAM user guide: condition operators"
BOUNDARIES = "IAM user guide: permissions boundaries"
ASSUME = "AWS STS API reference: AssumeRole"
NAMES = "LocalStack, tests/aws/services/sts/test_sts.py::test_sts_invalid_parameters"
LENGTHS = "LocalStack, tests/aws/services/sts/test_sts.py::test_assume_role_session_name_too_long"
TRUST = "LocalStack, tests/aws/services/iam/test_iam.py::test_create_role_with_malformed_assume_role_policy_document"
SIMULATION = "LocalStack, tests/aws/services/iam/test_iam.py::test_simulate_principle_policy"
READ, REGION, TAG = "ssm:GetParameter", "aws:RequestedRegion", "aws:RequestTag/absent"
# Allows a call by which a judge sees that a new role's policies are in force.
BEGUN = {"Effect": "Allow", "Action": "ssm:DescribeParameters", "Resource": "*"}


def role(judge: Engine, *statements: Json, trusted: Json | None = None, **options: Any) -> str:
    """Return the ARN of a new role, which this account may assume."""
    iam, name, account = judge.client("iam"), judge.name(), judge.client("sts").get_caller_identity()["Account"]
    trust = {"Effect": "Allow", "Principal": trusted or {"AWS": account}, "Action": "sts:AssumeRole"}
    made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trust), **options)
    judge.later(iam.delete_role, RoleName=name)
    iam.put_role_policy(RoleName=name, PolicyName="policy", PolicyDocument=document(BEGUN, *statements))
    judge.later(iam.delete_role_policy, RoleName=name, PolicyName="policy")
    return str(made["Role"]["Arn"])


def assumed(judge: Engine, arn: str, service: str, session: str = "judge") -> Any:
    """Return a client with the credentials of a session of the role."""
    sts = judge.client("sts")
    request = {"RoleArn": arn, "RoleSessionName": session}
    judge.until(lambda: refusal(sts.assume_role, **request) == "accepted")
    keys = sts.assume_role(**request)["Credentials"]
    named = {"access_key_id": "AccessKeyId", "secret_access_key": "SecretAccessKey", "session_token": "SessionToken"}
    return judge.client_with(service, **{f"aws_{name}": keys[member] for name, member in named.items()})


def verdict(judge: Engine, *statements: Json, name: str = "", **options: Any) -> str:
    """Return whether a role with these statements may read a parameter, which does not exist."""
    ssm = assumed(judge, role(judge, *statements, **options), "ssm")
    judge.until(lambda: refusal(ssm.describe_parameters) == "accepted")
    answer = refusal(ssm.get_parameter, Name=name or f"/{judge.name()}")
    return {"ParameterNotFound": "allowed", "AccessDeniedException": "denied"}[answer]


def allow(action: str = READ, **more: Any) -> Json:
    return {"Effect": "Allow", "Action": action, "Resource": "*", **more}


def when(operator: str, key: str, *values: str) -> Json:
    return allow(Condition={operator: {key: list(values)}})


DENY = {"Effect": "Deny", "Action": READ, "Resource": "*"}
NOT_OTHERS = {"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}
NOT_THERE = {"Effect": "Deny", "Action": READ, "NotResource": "arn:aws:ssm:*:*:parameter/elsewhere/*"}
TWO_KEYS = allow(Condition={"StringLike": {REGION: "*"}, "StringEquals": {"aws:PrincipalType": "User"}})
DECISIONS: list[tuple[str, str, str, str, list[Json]]] = [
    ("implicit-deny", "what no statement allows is denied", LOGIC, "denied", []),
    ("allow", "a statement allows", LOGIC, "allowed", [allow()]),
    ("deny-wins", "a Deny wins over an Allow", LOGIC, "denied", [DENY, EVERYTHING]),
    ("wildcard", "an action may have wildcards", LOGIC, "allowed", [allow("ssm:Get*")]),
    ("case", "actions have no case", LOGIC, "allowed", [allow("SSM:getparameter")]),
    ("other-action", "another action does not allow", LOGIC, "denied", [allow("ssm:GetParameters")]),
    ("not-action", "NotAction is all others", LOGIC, "allowed", [NOT_OTHERS]),
    ("not-resource", "NotResource is all others", LOGIC, "denied", [NOT_THERE, EVERYTHING]),
    ("condition", "a true condition allows", CONDITIONS, "allowed", [when("StringLike", REGION, "*-*-*")]),
    ("condition-false", "a false one does not", CONDITIONS, "denied", [when("StringEquals", REGION, "nowhere")]),
    ("condition-any", "one of the values is enough", CONDITIONS, "allowed", [when("StringLike", REGION, "nowhere", "*")]),
    ("condition-all", "all keys must hold", CONDITIONS, "denied", [TWO_KEYS]),
    ("absent-key", "a missing key is not equal", CONDITIONS, "denied", [when("StringEquals", TAG, "x")]),
    ("absent-key-not-equals", "it is unequal", CONDITIONS, "allowed", [when("StringNotEquals", TAG, "x")]),
    ("absent-key-if-exists", "IfExists spares it", CONDITIONS, "allowed", [when("StringEqualsIfExists", TAG, "x")]),
    ("absent-key-for-all", "ForAllValues holds for it", CONDITIONS, "allowed", [when("ForAllValues:StringEquals", TAG, "x")]),
    ("null", "Null finds it missing", CONDITIONS, "allowed", [when("Null", TAG, "true")]),
    ("unknown-key", "also one of other services", CONDITIONS, "allowed", [when("Null", "s3:TlsVersion", "true")]),
]


def decides(statements: list[Json]) -> Question:
    return lambda judge: verdict(judge, *statements)


for _name, _says, _source, _expected, _statements in DECISIONS:
    documented(f"iam-logic-{_name}", says=_says, source=_source, expected=_expected)(decides(_statements))


@documented("iam-boundary", says="a boundary limits a role's own policies", source=BOUNDARIES, expected="denied")
def boundary(judge: Engine) -> str:
    iam = judge.client("iam")
    arn = iam.create_policy(PolicyName=judge.name(), PolicyDocument=document(BEGUN))["Policy"]["Arn"]
    judge.later(iam.delete_policy, PolicyArn=arn)
    return verdict(judge, EVERYTHING, PermissionsBoundary=arn)


@documented("iam-session-rights", says="who assumes a role has only its rights", source=ASSUME, expected="denied")
def session_rights(judge: Engine) -> str:
    return verdict(judge)


@documented("iam-session-arn", says="a session has its role's and its own name", source=ASSUME, expected="assumed-role/ROLE/me")
def session_arn(judge: Engine) -> str:
    arn = role(judge)
    caller = assumed(judge, arn, "sts", "me").get_caller_identity()["Arn"]
    return str(caller.rsplit(":", 1)[-1].replace(arn.rsplit("/", 1)[-1], "ROLE"))


@documented("iam-trust", says="only whom a role trusts may assume it", source=ASSUME, expected="AccessDenied")
def trust(judge: Engine) -> str:
    arn = role(judge, trusted={"Service": "ec2.amazonaws.com"})
    return refusal(judge.client("sts").assume_role, RoleArn=arn, RoleSessionName="me")


@documented("iam-trust-missing", says="a missing role is not assumed", source=ASSUME, expected="AccessDenied")
def trust_missing(judge: Engine) -> str:
    arn = role(judge).rsplit("/", 1)[0] + f"/{judge.name()}"
    return refusal(judge.client("sts").assume_role, RoleArn=arn, RoleSessionName="me")


@fact("iam-session-name", says="a session's name has no colon", source=NAMES, date="2025-07-21", expected="ValidationError")
def session_name(judge: Engine) -> str:
    return refusal(judge.client("sts").assume_role, RoleArn=role(judge), RoleSessionName="Session1:2")


@fact("iam-session-name-long", says="it has at most 64 characters", source=LENGTHS, date="2026-02-09", expected="ValidationError")
def session_name_long(judge: Engine) -> str:
    return refusal(judge.client("sts").assume_role, RoleArn=role(judge), RoleSessionName="s" * 65)


@fact("iam-role-arn", says="a role is named by its ARN", source=NAMES, date="2025-07-21", expected="ValidationError")
def role_arn(judge: Engine) -> str:
    return refusal(judge.client("sts").assume_role, RoleArn="nothing-valid-in-here", RoleSessionName="me")


@fact("iam-role-policy-json", says="a policy is JSON", source=TRUST, date="2025-03-06", expected="MalformedPolicyDocument")
def role_policy_json(judge: Engine) -> str:
    return refusal(judge.client("iam").create_role, RoleName=judge.name(), AssumeRolePolicyDocument="not-json")


@documented("iam-delete-conflict", says="a role with a policy stays", source="IAM API: DeleteRole", expected="DeleteConflict")
def delete_conflict(judge: Engine) -> str:
    return refusal(judge.client("iam").delete_role, RoleName=role(judge).rsplit("/", 1)[-1])


@fact(
    "iam-simulate", says="a simulation names the resource", source=SIMULATION, date="2025-04-21", expected=["allowed", "RESOURCE"]
)
def simulate(judge: Engine) -> list[str]:
    resource, iam = f"arn:aws:s3:::{judge.name()}", judge.client("iam")
    asked = {"PolicySourceArn": role(judge, EVERYTHING), "ActionNames": ["s3:ListBucket"], "ResourceArns": [resource]}
    found = iam.simulate_principal_policy(**asked)["EvaluationResults"][0]
    return [found["EvalDecision"], found["EvalResourceName"].replace(resource, "RESOURCE")]
