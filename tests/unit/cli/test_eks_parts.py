"""`hpod status`: the EKS cluster, its add-ons, and task governance."""

from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from cli.result import Result, Table
from cli.status.command import status
from tests.unit.cli.commands import data_of
from tests.unit.cli.fake_eks import EksDeployment, FakeApiServer, FakeEks, eks_config
from tests.unit.cli.fake_operations import NOW, FakeOperations, node
from tests.unit.cli.governance import governed, quota, scheduler

DEPLOY = "cdk deploy 'draft/*'"


class World:
    """An account with an EKS cluster, and its fakes."""

    def __init__(self) -> None:
        self.account, self.eks = FakeOperations(), FakeEks()
        self.account.nodes = [node("workers", 2)]
        self.config = governed()

    def status(self) -> Result:
        return status(EksDeployment(self.account, FakeApiServer(), self.eks, self.config), now=NOW)

    def lines(self) -> list[str]:
        return str(self.status()).splitlines()

    def warnings(self) -> list[tuple[str, str | None]]:
        return [(each["message"], each["fix"]) for each in self.status().problems if each["level"] == "warning"]


@pytest.fixture
def world() -> World:
    return World()


def quota_rows(result: Result) -> list[list[str]]:
    """The rows of the table of quotas."""
    return [
        [str(cell) for cell in row]
        for each in result.text
        if isinstance(each, Table) and "TEAM" in each.head
        for row in each.rows
    ]


def test_a_healthy_cluster_takes_two_lines(world: World) -> None:
    assert [line for line in world.lines() if "EKS" in line or "add-on" in line] == ["EKS: 1.34, ACTIVE", "add-ons: 2 ACTIVE"]
    assert world.warnings() == []


def test_an_unhealthy_addon_is_named_with_its_issue_and_what_to_do(world: World) -> None:
    message = "The add-on is unhealthy; it lacks replicas."
    world.eks.addons["coredns"] = world.eks.addon("coredns", "DEGRADED", "InsufficientNumberOfReplicas", message)
    problem = "add-on coredns is DEGRADED: InsufficientNumberOfReplicas: The add-on is unhealthy, it lacks replicas"
    fix = "correct what the message names, and look at the add-on's pods with kubectl"
    lines = world.lines()
    assert "add-ons: 1 of 2 ACTIVE" in lines
    assert f"{problem}; {fix}" in lines
    assert world.warnings() == [(problem, fix)]


def test_a_failed_addon_requires_a_deployment_and_a_changing_one_nothing(world: World) -> None:
    world.eks.addons["coredns"] = world.eks.addon("coredns", "UPDATE_FAILED", "ConfigurationConflict", "conflicts")
    world.eks.addons["vpc-cni"] = world.eks.addon("vpc-cni", "UPDATING")
    assert "add-on vpc-cni is UPDATING" in world.lines()
    [(problem, fix)] = world.warnings()
    assert problem == "add-on coredns is UPDATE_FAILED: ConfigurationConflict: conflicts"
    assert fix == f"correct what the message names, then run `{DEPLOY}`"


def test_the_health_issues_of_the_eks_cluster_are_shown(world: World) -> None:
    world.eks.clusters["draft"]["health"] = {"issues": [{"code": "IamRoleNotFound", "message": "Role is missing."}]}
    assert "EKS: 1.34, ACTIVE" in world.lines()
    assert world.warnings() == [("EKS cluster is ACTIVE: IamRoleNotFound: Role is missing", "correct what the message names")]


def test_each_team_has_a_row_with_its_quota(world: World) -> None:
    partition = {"InstanceType": "ml.p4d.24xlarge", "AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 4}}
    parts = {"InstanceType": "ml.g5.12xlarge", "Accelerators": 4, "VCpu": 48.0, "MemoryInGiB": 192.5}
    world.account.quotas = [
        quota("vision", "Updating", resources=(parts, partition)),
        quota("research"),
        quota("idle", ActivationState="Disabled", resources=()),
        quota("gone", "Deleted"),
    ]
    world.account.schedulers = [scheduler()]
    result = world.status()
    assert quota_rows(result) == [
        ["idle", "Created, disabled", "-"],
        ["research", "Created", "2 ml.p5.48xlarge"],
        ["vision", "Updating", "4 accelerators and 48 vCPUs and 192.5 GiB of ml.g5.12xlarge, 4 mig-1g.5gb of ml.p4d.24xlarge"],
    ]
    assert "scheduler config: Created" in str(result)
    assert list(result.problems) == []


def test_a_failed_quota_has_sagemakers_reason_and_what_to_do(world: World) -> None:
    world.account.quotas = [quota("research", "UpdateFailed", "too few nodes."), quota("vision", "DeleteFailed", "busy")]
    world.account.schedulers = [scheduler("CreateRollbackFailed", "a weight is used twice")]
    assert world.warnings() == [
        (
            "quota of team research is UpdateFailed: too few nodes",
            f"correct what the reason names in the cluster file, then run `{DEPLOY}`",
        ),
        ("quota of team vision is DeleteFailed: busy", f"end the team's workloads, then run `{DEPLOY}`"),
        (
            "scheduler config is CreateRollbackFailed: a weight is used twice",
            f"correct what the reason names in the cluster file, then run `{DEPLOY}`",
        ),
    ]
    assert "quota of team vision is DeleteFailed: busy; end the team's workloads" in str(world.status())


@pytest.mark.parametrize(
    ("operation", "part"),
    [
        ("list_compute_quotas", "quotas"),
        ("list_cluster_scheduler_configs", "scheduler config"),
        ("describe_compute_quota", "reason of draft-research"),
    ],
)
def test_a_part_that_sagemaker_refuses_is_one_line(world: World, operation: str, part: str) -> None:
    world.account.quotas, world.account.schedulers = [quota("research", "CreateFailed", "no")], [scheduler()]
    world.account.refused = {operation}
    result = world.status()
    [line] = [line for line in str(result).splitlines() if "AccessDenied" in line]
    assert line.startswith(f"{part}: cannot run `status`: ")
    assert "EKS: 1.34, ACTIVE" in str(result)
    assert result.failure == ""


def test_denied_addons_leave_the_other_parts(world: World) -> None:
    world.eks.refused = {"describe_addon"}
    result = world.status()
    assert [line for line in str(result).splitlines() if "add-ons" in line and "AccessDenied" in line]
    assert (data_of(result)["eks"]["version"], data_of(result)["eks"]["addons"]) == ("1.34", None)


def test_a_region_without_the_api_of_quotas_is_one_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://sagemaker.example.com")

    monkeypatch.setattr(world.account, "_governance_page", unreachable)
    assert [line.partition(":")[0] for line in world.lines() if "Could not connect" in line] == ["quotas", "scheduler config"]


def test_a_deleted_eks_cluster_is_reported_once(world: World) -> None:
    world.eks.clusters.clear()
    result = world.status()
    assert data_of(result)["eks"] is None
    assert not [line for line in str(result).splitlines() if line.startswith(("EKS", "add-on"))]


def test_a_file_without_task_governance_asks_for_no_quotas(world: World) -> None:
    world.config = eks_config()
    world.account.refused = {"list_compute_quotas", "list_cluster_scheduler_configs"}
    result = world.status()
    assert (data_of(result)["quotas"], data_of(result)["scheduler_config"], list(result.problems)) == ([], None, [])


def test_programs_get_each_part(world: World) -> None:
    world.account.quotas = [quota("research", "CreateFailed", "no capacity")]
    data = world.status().data
    assert data is not None
    assert data["eks"]["addons"][0] == {"name": "coredns", "version": "v1", "status": "ACTIVE", "issues": []}
    [found] = data["quotas"]
    assert (found["team"], found["status"], found["message"], found["is_enabled"]) == (
        "research",
        "CreateFailed",
        "no capacity",
        True,
    )
    assert found["reserved"][0]["count"] == 2
