"""Build the inputs of HyperPod task governance from the teams of a cluster file, and check them against the service model."""

from collections.abc import Iterator

from cluster_request.request import Request
from cluster_request.request_check import check_request
from config.eks import EksConfig
from config.entries import numbered
from config.errors import Path, Problem
from config.model import ClusterConfig
from config.teams import QuotaResource, SchedulingConfig, Team, TeamQuota

MAX_NAME = 63
CLUSTER_ARN = "arn:aws:sagemaker:us-east-1:123456789012:cluster/abcdefghij12"
"""A well-formed ARN in place of the cluster's, which is unknown at synth."""

RESOURCE_FIELDS = {
    "InstanceType": "instance_type",
    "Count": "count",
    "Accelerators": "accelerators",
    "VCpu": "vcpus",
    "MemoryInGiB": "memory_gib",
}
FIELDS: dict[Path, Path] = {
    ("ComputeQuotaTarget", "TeamName"): ("name",),
    ("ComputeQuotaTarget", "FairShareWeight"): ("quota", "fair_share_weight"),
    ("ComputeQuotaConfig", "PreemptTeamTasks"): ("quota", "preemption"),
    ("ComputeQuotaConfig", "ResourceSharingConfig", "Strategy"): ("quota", "sharing"),
    ("ComputeQuotaConfig", "ResourceSharingConfig", "BorrowLimit"): ("quota", "borrow_limit_percent"),
}
"""Where a member's value is in the file."""
RESOURCES: Path = ("ComputeQuotaConfig", "ComputeQuotaResources")


def compute_quotas(config: ClusterConfig) -> list[Request]:
    """Return the inputs of CreateComputeQuota without ClusterArn and Tags, one for each team with a quota."""
    teams = config.eks.teams if config.eks else ()
    return [_compute_quota(config.name, team, team.quota) for team in teams if team.quota]


def scheduler_config(config: ClusterConfig) -> Request | None:
    """Return the input of CreateClusterSchedulerConfig without ClusterArn and Tags, if the file has `scheduling`."""
    if config.eks is None or config.eks.scheduling is None:
        return None
    return {"Name": f"{config.name[:MAX_NAME]}".rstrip("-"), "SchedulerConfig": _scheduler_config(config.eks.scheduling)}


def has_task_governance(eks: EksConfig) -> bool:
    """Return whether the file uses task governance."""
    return eks.scheduling is not None or any(team.quota for team in eks.teams)


def quota_problems(config: ClusterConfig) -> list[Problem]:
    """Return what SageMaker would reject in the quotas and the scheduling of the file, by the field's path."""
    teams = config.eks.teams if config.eks else ()
    problems = [
        _in_file(problem, ("eks", "teams", index))
        for index, team in numbered(teams)
        if team.quota
        for problem in _problems("CreateComputeQuota", _compute_quota(config.name, team, team.quota))
    ]
    scheduler = scheduler_config(config)
    if scheduler:
        found = _problems("CreateClusterSchedulerConfig", scheduler)
        problems += [Problem(("eks", "scheduling"), each.value, each.message, each.fix, rule=each.rule) for each in found]
    return problems


def quota_name(file_name: str, team: str) -> str:
    """Return the name of a team's quota, at most 63 characters long; the team keeps it unique."""
    prefix = file_name[: MAX_NAME - len(team) - 1].rstrip("-")
    return f"{prefix}-{team}"


def _compute_quota(file_name: str, team: Team, quota: TeamQuota) -> Request:
    """Return the input for a team. Every member is given, so that a change back to a default changes the input."""
    sharing: Request = {"Strategy": quota.sharing.value}
    if quota.borrow_limit_percent is not None:
        sharing["BorrowLimit"] = quota.borrow_limit_percent
    settings = {
        "ComputeQuotaResources": [_resource(each) for each in quota.resources],
        "ResourceSharingConfig": sharing,
        "PreemptTeamTasks": quota.preemption.value,
    }
    target = {"TeamName": team.name, "FairShareWeight": quota.fair_share_weight}
    return {"Name": quota_name(file_name, team.name), "ComputeQuotaConfig": settings, "ComputeQuotaTarget": target}


def _resource(resource: QuotaResource) -> Request:
    values = {member: getattr(resource, field) for member, field in RESOURCE_FIELDS.items()}
    return {member: value for member, value in values.items() if value is not None}


def _scheduler_config(scheduling: SchedulingConfig) -> Request:
    classes = [{"Name": each.name, "Weight": each.weight} for each in scheduling.priority_classes]
    shared = scheduling.idle_resource_sharing
    return {
        **({"PriorityClasses": classes} if classes else {}),
        "FairShare": _state(is_enabled=scheduling.fair_share),
        **({} if shared is None else {"IdleResourceSharing": _state(is_enabled=shared)}),
    }


def _state(*, is_enabled: bool) -> str:
    return "Enabled" if is_enabled else "Disabled"


def _problems(operation: str, request: Request) -> Iterator[Problem]:
    yield from check_request({**request, "ClusterArn": CLUSTER_ARN}, operation)


def _in_file(problem: Problem, team: Path) -> Problem:
    """Return the problem with the path of the file's field."""
    path = problem.path
    field = FIELDS.get(path, ("quota",))
    if path[: len(RESOURCES)] == RESOURCES:
        index = path[len(RESOURCES) : len(RESOURCES) + 1]
        members = path[len(RESOURCES) + 1 :]
        field = ("quota", "resources", *index, *(RESOURCE_FIELDS[str(each)] for each in members if each in RESOURCE_FIELDS))
    return Problem((*team, *field), problem.value, problem.message, problem.fix, rule=problem.rule)
