"""Check that the caller may deploy, with IAM's policy simulator."""

from collections.abc import Iterator
from typing import Any

from cli.aws_errors import unless_absent
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, one_by_one, skipped, warning
from cli.preflight.deploy_actions import actions
from cli.preflight.prerequisites import role_arn

# https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html: the CDK assumes TAKEN_ON, CloudFormation EXECUTION.
TAKEN_ON = ("deploy-role", "file-publishing-role")
EXECUTION = "cfn-exec-role"
# Actions of the caller if the CDK can assume no role; CloudFormation still uses EXECUTION.
WITHOUT_ROLES = ["cloudformation:CreateChangeSet", "cloudformation:ExecuteChangeSet", "iam:PassRole", "s3:PutObject"]
ALLOWED, DENIED, DOUBTFUL = "allowed", "explicitDeny", "explicitDeny without the conditions' values"
BATCH = 50


def permissions(account: Account) -> Iterator[CheckResult]:
    """Check that the caller may assume the bootstrap's roles, and that CloudFormation's role may create the file's resources."""
    yield from one_by_one(account, _own(account), _execution(account))


def _own(account: Account) -> Iterator[CheckResult]:
    caller = principal(account.identity["Arn"])
    if caller is None:
        yield skipped(f"{account.identity['Arn']} has no policies that IAM could simulate")
    elif (source := _source(account, caller)) is None:
        yield skipped(f"IAM does not know {caller}, so its permissions are unknown")
    else:
        yield from _caller(account, source, caller)


def _caller(account: Account, source: str, caller: str) -> Iterator[CheckResult]:
    roles = [role_arn(account, each) for each in TAKEN_ON]
    refused = [each for each in _simulated(account, source, ["sts:AssumeRole"], roles) if each[2] != ALLOWED]
    if not refused:
        yield ok(f"{caller} may assume the bootstrap's roles")
        return
    listed = ", ".join(sorted(resource.rsplit("/", 1)[-1] for _, resource, _ in refused))
    yield warning(
        f"{caller} may not assume {listed}, so the CDK would use your own permissions",
        "get sts:AssumeRole on them, or all permissions in the next lines",
    )
    yield from _may(account, source, caller, WITHOUT_ROLES)


def principal(arn: str) -> str | None:
    """Return the IAM principal with the policies: for an assumed role's session its role; None for the root user and others."""
    kind = arn.split(":", 5)[5]
    if kind.startswith("assumed-role/"):
        return f"role {kind.split('/')[1]}"
    return f"user {kind.rsplit('/', 1)[-1]}" if kind.startswith("user/") else None


def _source(account: Account, caller: str) -> str | None:
    """Return the ARN of the user or role; a session's ARN lacks the path of its role."""
    found = account.principal(*caller.split(" ", 1))
    return str(found["Arn"]) if found else None


def _execution(account: Account) -> Iterator[CheckResult]:
    arn = role_arn(account, EXECUTION)
    results = unless_absent(lambda: list(_may(account, arn, arn.rsplit("/", 1)[-1], actions(account.config))))
    if results is None:
        yield error(f"no role {arn}, which CloudFormation uses", f"run `cdk bootstrap aws://{account.id}/{account.region}`")
    yield from results or ()


def _may(account: Account, source: str, name: str, wanted: list[str]) -> Iterator[CheckResult]:
    """Check that the policies of ``source`` allow the actions, on no particular resource."""
    results = list(_simulated(account, source, wanted, []))
    denied = sorted(action for action, _, decision in results if decision == DENIED)
    unsaid = sorted(action for action, _, decision in results if decision not in (ALLOWED, DENIED))
    if denied:
        yield error(
            f"{name} is denied {', '.join(denied)}",
            "find the Deny in an organization's policy, a permissions boundary or its own policies",
        )
    if unsaid:
        yield warning(
            f"{name} is not allowed everywhere: {', '.join(unsaid)}",
            "check its policies for this cluster's resources and conditions; IAM was asked without them",
        )
    if not denied and not unsaid:
        yield ok(f"{name} may do all {len(wanted)} actions of a deployment")


def _simulated(account: Account, source: str, wanted: list[str], resources: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield action, resource and decision; an organization's policy that does not allow an action counts as a Deny."""
    where: dict[str, Any] = {"ResourceArns": resources} if resources else {}
    region = {"ContextKeyName": "aws:RequestedRegion", "ContextKeyType": "string", "ContextKeyValues": [account.region]}
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        asked = {"PolicySourceArn": source, "ActionNames": batch, "ContextEntries": [region], **where}
        for each in account.all("iam", "simulate_principal_policy", "EvaluationResults", **asked):
            organization = (each.get("OrganizationsDecisionDetail") or {}).get("AllowedByOrganizations", True)
            for resource, decision in _decisions(each, resources):
                yield each["EvalActionName"], resource, decision if organization else DENIED


def _decisions(result: dict[str, Any], resources: list[str]) -> Iterator[tuple[str, str]]:
    """Return the decision on each resource: the result's own EvalResourceName is a template, or the only resource.

    https://docs.aws.amazon.com/IAM/latest/APIReference/API_EvaluationResult.html
    """
    specific = result.get("ResourceSpecificResults") or []
    if resources and specific:
        yield from ((each["EvalResourceName"], _decision(each, "EvalResourceDecision")) for each in specific)
    else:
        yield from ((resource, _decision(result, "EvalDecision")) for resource in resources or ["*"])


def _decision(result: dict[str, Any], member: str) -> str:
    """Return the decision; a Deny is not certain if a condition lacked a value."""
    decision = str(result[member])
    return DOUBTFUL if decision == DENIED and result.get("MissingContextValues") else decision
