"""Policy statements, and their evaluation for an attempted action."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from local_aws.iam.conditions import UnknownConditionError, holds
from local_aws.iam.patterns import Context, UnresolvedVariableError, fill, matches

Statement: TypeAlias = dict[str, Any]


class Verdict(Enum):
    """The result of policies: an explicit Deny, an Allow, an Allow to the whole account only, or nothing."""

    DENY = "deny"
    ALLOW = "allow"
    DELEGATE = "delegate"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Principal:
    """The caller: a role with its account, or a service."""

    account: str = ""
    role_arn: str = ""
    service: str = ""


@dataclass(frozen=True)
class Attempt:
    """An attempt to perform ``action`` on ``resource``; ``context`` has the condition keys in lower case."""

    principal: Principal
    action: str
    resource: str
    context: Context


def judge(statements: Iterable[Statement], attempt: Attempt, *, has_principal: bool = False) -> Verdict:
    """Return the verdict of ``statements`` on ``attempt``; those of resource policies name a principal."""
    verdict = Verdict.NOTHING
    for statement in statements:
        named = _names(statement, attempt.principal) if has_principal else Verdict.ALLOW
        denies = statement.get("Effect") == "Deny"
        if named is Verdict.NOTHING or not _applies(statement, attempt, when_unknown=denies):
            continue
        if denies:
            return Verdict.DENY
        if verdict is not Verdict.ALLOW:
            verdict = named
    return verdict


def _applies(statement: Statement, attempt: Attempt, *, when_unknown: bool) -> bool:
    if not (_covers_action(statement, attempt.action) and _covers_resource(statement, attempt)):
        return False
    try:
        return holds(statement.get("Condition") or {}, attempt.context)
    except (UnknownConditionError, ValueError):  # ValueError: an invalid number or address
        return when_unknown


def _covers_action(statement: Statement, action: str) -> bool:
    negated = "NotAction" in statement
    patterns = _listed(statement["NotAction" if negated else "Action"])
    return any(matches(pattern.lower(), action.lower()) for pattern in patterns) != negated


def _covers_resource(statement: Statement, attempt: Attempt) -> bool:
    if "NotResource" in statement:
        return not _any_resource(statement["NotResource"], attempt)
    return "Resource" not in statement or _any_resource(statement["Resource"], attempt)


def _any_resource(patterns: str | list[str], attempt: Attempt) -> bool:
    return any(_is_resource(pattern, attempt) for pattern in _listed(patterns))


def _is_resource(pattern: str, attempt: Attempt) -> bool:
    try:
        return matches(fill(pattern, attempt.context), attempt.resource)
    except UnresolvedVariableError:
        return False


def _names(statement: Statement, principal: Principal) -> Verdict:
    """Return whether the statement's principal is this one: itself (ALLOW), by its account (DELEGATE), or not at all."""
    if "NotPrincipal" in statement:  # unsupported: an Allow does not apply, a Deny does
        return Verdict.ALLOW if statement.get("Effect") == "Deny" else Verdict.NOTHING
    named = statement.get("Principal", {})
    if named == "*":
        return Verdict.ALLOW
    if isinstance(named, str):  # a function's policy may contain a plain account number or ARN
        named = {"AWS": named}
    if principal.service:
        return Verdict.ALLOW if principal.service in _listed(named.get("Service", [])) else Verdict.NOTHING
    people = _listed(named.get("AWS", []))
    if "*" in people or principal.role_arn in people:
        return Verdict.ALLOW
    by_account = any(person == principal.account or _is_root(person, principal.account) for person in people)
    return Verdict.DELEGATE if by_account else Verdict.NOTHING


def _is_root(person: str, account: str) -> bool:
    return person.startswith("arn:") and person.endswith(f":iam::{account}:root")


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
