"""Authorization decisions, as AWS makes them within one account, with a record of each for the tests.

Evaluated: identity policies, permissions boundaries, trust policies, the policies of buckets, functions and topics, and those
of keys for services only. Not evaluated: service control policies, session policies, VPC endpoints' policies.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from local_aws.iam import documents
from local_aws.iam.patterns import Context
from local_aws.iam.policy import Attempt, Principal, Verdict, judge

Keys: TypeAlias = Mapping[str, str | Sequence[str]]
_NO_MORE_THAN = 50_000  # decisions kept: enough for the longest test, and a bound for a demo that runs for days


@dataclass(frozen=True)
class Decision:
    """The decision on a role's request, and the reason."""

    action: str
    resource: str
    role: str
    allowed: bool
    why: str


_audit: deque[Decision] = deque(maxlen=_NO_MORE_THAN)


def role_allows(account: str, role_arn: str, action: str, resource: str | None, context: Keys | None = None) -> bool:
    """Return whether the role's and the resource's policies allow ``action``; None is no specific resource ('*')."""
    return decide(account, role_arn, action, resource or "*", context or {}).allowed


def role_trusts(account: str, role_arn: str, service: str, context: Keys | None = None) -> bool:
    """Return whether the role exists and its trust policy, with its conditions, allows ``service`` to assume it."""
    keys = {"aws:PrincipalIsAWSService": "true", **(context or {})}
    return _trusts(account, role_arn, Principal(service=service), keys)


def role_trusts_role(account: str, role_arn: str, caller_arn: str, context: Keys | None = None) -> bool:
    """Return whether the role's trust policy allows the role ``caller_arn`` to assume it, directly or through its account."""
    caller = caller_arn.split(":")[4]
    keys = {"aws:PrincipalAccount": caller, "aws:PrincipalArn": caller_arn, **(context or {})}
    return _trusts(account, role_arn, Principal(account=caller, role_arn=caller_arn), keys)


def _trusts(account: str, role_arn: str, principal: Principal, keys: Keys) -> bool:
    who = principal.service or principal.role_arn
    role = documents.find_role(account, role_arn)
    if role is None:
        return _record(Decision("sts:AssumeRole", role_arn, who, False, "the role does not exist"))
    attempt = Attempt(principal, "sts:AssumeRole", role_arn, _context(keys, account, role_arn))
    verdict = judge(documents.trust_statements(role), attempt, has_principal=True)
    return _record(Decision("sts:AssumeRole", role_arn, who, verdict in (Verdict.ALLOW, Verdict.DELEGATE), "by the trust policy"))


def service_may(account: str, service: str, action: str, resource: str, context: Keys | None = None) -> bool:
    """Return whether the resource's own policy allows ``service`` to perform ``action``, as EventBridge needs for a function."""
    keys = {"aws:PrincipalIsAWSService": "true", **(context or {})}
    attempt = Attempt(Principal(service=service), action, resource, _context(keys, account, resource))
    allowed = judge(documents.resource_statements(account, resource), attempt, has_principal=True) is Verdict.ALLOW
    return _record(Decision(action, resource, service, allowed, "by the resource's policy"))


def bucket_denies(account: str, access_key: str, action: str, resource: str) -> bool:
    """Return whether a bucket's policy denies ``action`` to a caller without a session."""
    arn = documents.person_arn(account, access_key)
    kind = "Account" if arn.endswith(":root") else "User"
    keys = {"aws:PrincipalAccount": account, "aws:PrincipalArn": arn, "aws:PrincipalType": kind}
    attempt = Attempt(Principal(account, arn), action, resource, _context(keys, account, resource))
    return judge(documents.resource_statements(account, resource), attempt, has_principal=True) is Verdict.DENY


def decide(account: str, role_arn: str, action: str, resource: str, context: Keys) -> Decision:
    """Decide on a role's request, and record the decision."""
    decision = simulate(account, role_arn, action, resource, context)
    _record(decision)
    return decision


def simulate(account: str, role_arn: str, action: str, resource: str, context: Keys) -> Decision:
    """Decide on a hypothetical request."""
    role = documents.find_role(account, role_arn)
    if role is None:
        allowed, why = False, "because the role does not exist"
    else:
        keys = {"aws:PrincipalAccount": account, "aws:PrincipalArn": role_arn, "aws:PrincipalType": "AssumedRole"}
        full = _context({**keys, "aws:PrincipalIsAWSService": "false", **context}, account, resource)
        allowed, why = _weigh(account, role, Attempt(Principal(account, role_arn), action, resource, full))
    return Decision(action, resource, role_arn, allowed, why)


def audit() -> list[dict[str, object]]:
    """Return all decisions made, oldest first."""
    return [asdict(decision) for decision in list(_audit)]


def reset() -> None:
    """Forget the decisions."""
    _audit.clear()


def _weigh(account: str, role: documents.Role, attempt: Attempt) -> tuple[bool, str]:
    by_identity = judge(documents.identity_statements(role), attempt)
    by_resource = judge(documents.resource_statements(account, attempt.resource), attempt, has_principal=True)
    boundary = documents.boundary_statements(account, role)
    by_boundary = Verdict.ALLOW if boundary is None else judge(boundary, attempt)
    if Verdict.DENY in (by_identity, by_boundary):
        return False, "with an explicit deny in an identity-based policy"
    if by_resource is Verdict.DENY:
        return False, "with an explicit deny in a resource-based policy"
    if by_resource is Verdict.ALLOW:
        return True, "by a resource-based policy"
    if by_identity is not Verdict.ALLOW:
        return False, f"because no identity-based policy allows the {attempt.action} action"
    if by_boundary is not Verdict.ALLOW:
        return False, f"because no permissions boundary allows the {attempt.action} action"
    return True, "by an identity-based policy"


def _context(keys: Keys, account: str, resource: str) -> Context:
    """Return the request's condition keys in lower case, with those that every request has.

    The traffic is plain HTTP on loopback, which represents TLS: aws:SecureTransport is always true.
    """
    always = {"aws:SecureTransport": "true", "aws:ViaAWSService": "false", **_owner(account, resource)}
    return {name.lower(): (value,) if isinstance(value, str) else tuple(value) for name, value in {**always, **keys}.items()}


def _owner(account: str, resource: str) -> dict[str, str]:
    """Return the account of the resource: from its ARN, or from S3; none for a missing bucket."""
    if ":s3:::" in resource:
        bucket = documents.find_bucket(resource)
        return {"aws:ResourceAccount": bucket.account_id, "s3:ResourceAccount": bucket.account_id} if bucket else {}
    parts = resource.split(":")
    return {"aws:ResourceAccount": parts[4] if len(parts) > 4 and parts[4] else account}


def _record(decision: Decision) -> bool:
    _audit.append(decision)
    return decision.allowed
