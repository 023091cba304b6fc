"""The caller's rights, and those of the role as which CloudFormation works."""

from collections.abc import Sequence
from typing import Any

import pytest

from cli.preflight.deploy_actions import actions
from cli.preflight.permissions import permissions, principal
from config.model import ClusterConfig
from tests.unit.cli.preflight.fake_aws import ACCOUNT, DENIED, FILE, IMPORTED, FakeAws, Pages, asked, outcomes, parsed, refused

ROLE = f"arn:aws:iam::{ACCOUNT}:role/teams/dev"
EXECUTION = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-us-west-2"


class Simulator:
    """IAM, which allows everybody everything but what a test says: of an action, or of a role that is to be taken on.

    Its results are one for an action, whose EvalResourceName is a template:
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_EvaluationResult.html
    """

    def __init__(
        self,
        refusals: dict[tuple[str, str], str] | None = None,
        organization: tuple[str, ...] = (),
        missing: str = "",
        unknown_values: Sequence[str] = (),
        *,
        in_pages: bool = False,
    ) -> None:
        self.refusals, self.organization, self.missing = refusals or {}, organization, missing
        self.unknown_values, self.in_pages = unknown_values, in_pages
        self.simulated: list[tuple[str, list[str], list[str]]] = []

    def simulate(
        self,
        PolicySourceArn: str,  # noqa: N803  as boto3 spells it, and the next three
        ActionNames: list[str],  # noqa: N803
        ContextEntries: list[dict[str, Any]],  # noqa: N803
        ResourceArns: list[str] | None = None,  # noqa: N803
    ) -> Any:
        assert len(ActionNames) <= 50
        assert [(each["ContextKeyName"], each["ContextKeyValues"]) for each in ContextEntries] == [
            ("aws:RequestedRegion", ["us-west-2"])
        ]
        self.simulated.append((PolicySourceArn, ActionNames, ResourceArns or []))
        if PolicySourceArn == self.missing:
            return refused("NoSuchEntity")
        results = [self._result(PolicySourceArn, action, ResourceArns or []) for action in ActionNames]
        pages = [[each] for each in results] if self.in_pages else [results]
        return Pages(tuple({"EvaluationResults": page} for page in pages))

    def _result(self, source: str, action: str, resources: list[str]) -> dict[str, Any]:
        decision = self.refusals.get((source, action), "allowed")
        decisions = {each: self.refusals.get((source, each.rsplit("/", 1)[-1]), decision) for each in resources}
        specific = [{"EvalResourceName": each, "EvalResourceDecision": told} for each, told in decisions.items()]
        return {
            "EvalActionName": action,
            "EvalResourceName": "arn:${Partition}:iam::${Account}:role/${RoleNameWithPath}",
            "EvalDecision": next((told for told in decisions.values() if told != "allowed"), decision),
            "OrganizationsDecisionDetail": {"AllowedByOrganizations": action not in self.organization},
            **({"ResourceSpecificResults": specific} if specific else {}),
            **({"MissingContextValues": self.unknown_values} if self.unknown_values else {}),
        }

    def account(self) -> dict[str, Any]:
        return {"iam.simulate_principal_policy": self.simulate, "iam.get_role": {"Role": {"Arn": ROLE}}}


def test_a_caller_who_may_take_on_the_bootstraps_roles_needs_nothing_else() -> None:
    simulator = Simulator()
    found = asked(permissions, simulator.account())
    assert [each.message for each in found] == [
        "role dev may assume the bootstrap's roles",
        f"{EXECUTION.rsplit('/', 1)[-1]} may do all {len(actions(parsed(FILE)))} actions of a deployment",
    ]
    source, wanted, resources = simulator.simulated[0]
    assert (source, wanted) == (ROLE, ["sts:AssumeRole"]), "the role's own ARN, with the path that the session's leaves out"
    assert [each.rsplit("/", 1)[-1] for each in resources] == [
        f"cdk-hnb659fds-{name}-{ACCOUNT}-us-west-2" for name in ("deploy-role", "file-publishing-role")
    ]


PUBLISHING = f"cdk-hnb659fds-file-publishing-role-{ACCOUNT}-us-west-2"


@pytest.mark.parametrize(
    ("simulator", "ends"),
    [
        (
            Simulator({(ROLE, "sts:AssumeRole"): "implicitDeny", (ROLE, "iam:PassRole"): "explicitDeny"}),
            ["warning: the CDK would use your own permissions", "error: role dev is denied iam:PassRole", "ok: "],
        ),
        (
            Simulator({(ROLE, PUBLISHING): "implicitDeny"}),
            [f"warning: role dev may not assume {PUBLISHING}, so the CDK would use your own permissions", "ok: ", "ok: "],
        ),
        (
            Simulator({(EXECUTION, "fsx:CreateFileSystem"): "explicitDeny", (EXECUTION, "ec2:CreateVpc"): "implicitDeny"}),
            ["ok: ", "error: is denied fsx:CreateFileSystem", "warning: is not allowed everywhere: ec2:CreateVpc"],
        ),
        (Simulator(organization=("ec2:CreateVpc",)), ["ok: ", "error: "]),
        (Simulator(missing=EXECUTION), ["ok: ", "error: "]),
        (
            Simulator({(EXECUTION, "ec2:CreateVpc"): "explicitDeny"}, unknown_values=["aws:PrincipalTag/team"]),
            ["ok: ", "warning: is not allowed everywhere: ec2:CreateVpc"],
        ),
        (Simulator({(EXECUTION, "states:CreateStateMachine"): "explicitDeny"}, in_pages=True), ["ok: ", "error: "]),
    ],
    ids=[
        *("the caller may not assume the roles", "the caller may not assume one role", "CloudFormation's role is denied"),
        *("the organization denies", "no role of CloudFormation's", "a condition with unknown values", "in pages"),
    ],
)
def test_what_is_missing_is_an_error_or_a_warning(simulator: Simulator, ends: list[str]) -> None:
    found = asked(permissions, simulator.account())
    assert outcomes(found) == [end.partition(":")[0] for end in ends]
    for each, end in zip(found, ends, strict=True):
        assert each.message.endswith(end.partition(": ")[2])


def test_without_cloudformations_role_the_region_is_to_be_bootstrapped() -> None:
    [_, found] = asked(permissions, Simulator(missing=EXECUTION).account())
    assert found.fix == f"run `cdk bootstrap aws://{ACCOUNT}/us-west-2`"


@pytest.mark.parametrize("name", ["root", "federated-user/me"])
def test_of_a_caller_without_policies_only_cloudformations_role_is_asked_for(name: str) -> None:
    identity = {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:{name}"}
    found = asked(permissions, Simulator().account() | {"sts.get_caller_identity": identity})
    assert outcomes(found) == ["skipped", "ok"]


@pytest.mark.parametrize(
    ("operation", "found"), [("iam.get_role", ["warning", "ok"]), ("iam.simulate_principal_policy", ["warning"])]
)
def test_without_the_right_to_simulate_one_warning_names_both_checks(operation: str, found: list[str]) -> None:
    assert outcomes(asked(permissions, Simulator().account() | {operation: DENIED})) == found


def test_a_user_is_asked_for_by_its_name() -> None:
    user = f"arn:aws:iam::{ACCOUNT}:user/teams/me"
    aws = FakeAws(
        Simulator().account()
        | {"sts.get_caller_identity": {"Account": ACCOUNT, "Arn": user}, "iam.get_user": {"User": {"Arn": user}}}
    )
    assert outcomes(asked(permissions, aws)) == ["ok", "ok"]
    assert principal(user) == "user me"


def test_only_what_the_file_asks_for_is_needed() -> None:
    def of(file: str) -> set[str]:
        config: ClusterConfig = parsed(file)
        return set(actions(config))

    assert {"ec2:CreateVpc", "fsx:CreateFileSystem", "states:CreateStateMachine"} <= of(FILE)
    assert not {each for each in of(IMPORTED) if each.startswith(("ec2:", "fsx:"))}
