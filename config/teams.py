"""Define teams of an EKS cluster, their quotas, and the scheduling between them."""

from enum import StrEnum
from typing import Annotated

from pydantic import StrictBool, StrictFloat, StrictInt, StringConstraints

from config.section import Change, Section, setting

# sagemaker:CreateComputeQuota ComputeQuotaTarget.TeamName, at most 40 characters, because the namespace has a prefix.
TEAM_NAME = "^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$"
ROLE_ARN = "^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]{1,512}$"

TeamName = Annotated[str, StringConstraints(pattern=TEAM_NAME, max_length=40)]
RoleArn = Annotated[str, StringConstraints(pattern=ROLE_ARN)]
NAMESPACE_PREFIX = "hyperpod-ns-"


class PodSecurity(StrEnum):
    """Levels of the Pod Security Standards."""

    PRIVILEGED = "privileged"
    BASELINE = "baseline"
    RESTRICTED = "restricted"


class Sharing(StrEnum):
    """How a team shares compute that it does not use."""

    LEND = "Lend"
    DONT_LEND = "DontLend"
    LEND_AND_BORROW = "LendAndBorrow"


class Preemption(StrEnum):
    """The tasks of the same team that a new task can preempt."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"


class QuotaResource(Section):
    """The compute of one instance type that is reserved for a team: whole instances, or parts."""

    instance_type: str = setting(
        "instance type of a group, e.g. `ml.p5.48xlarge`",
        Change.IN_PLACE,
        pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9-]+$",
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ComputeQuotaResources[].InstanceType",
    )
    count: StrictInt | None = setting(
        "number of whole instances",
        Change.IN_PLACE,
        None,
        ge=0,
        le=10000000,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ComputeQuotaResources[].Count",
    )
    accelerators: StrictInt | None = setting(
        "number of accelerators, instead of `count`",
        Change.IN_PLACE,
        None,
        ge=0,
        le=10000000,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ComputeQuotaResources[].Accelerators",
    )
    vcpus: StrictFloat | None = setting(
        "number of vCPUs, instead of `count`",
        Change.IN_PLACE,
        None,
        ge=0,
        le=10000000,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ComputeQuotaResources[].VCpu",
    )
    memory_gib: StrictFloat | None = setting(
        "memory in GiB, instead of `count`",
        Change.IN_PLACE,
        None,
        ge=0,
        le=10000000,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ComputeQuotaResources[].MemoryInGiB",
    )


class TeamQuota(Section):
    """The compute quota of a team (HyperPod task governance)."""

    resources: tuple[QuotaResource, ...] = setting(
        "compute that is reserved for the team; `[]`: only borrowed compute", Change.IN_PLACE, (), max_length=15
    )
    sharing: Sharing = setting(
        "whether the team lends compute that it does not use, and borrows from others",
        Change.IN_PLACE,
        Sharing.LEND_AND_BORROW,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ResourceSharingConfig.Strategy",
    )
    borrow_limit_percent: StrictInt | None = setting(
        "limit of borrowed compute, in percent of `resources`; default: HyperPod's 50",
        Change.IN_PLACE,
        None,
        ge=1,
        le=10000,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.ResourceSharingConfig.BorrowLimit",
    )
    preemption: Preemption = setting(
        "whether a task may preempt tasks of the same team that have a lower priority",
        Change.IN_PLACE,
        Preemption.LOWER_PRIORITY,
        api="sagemaker:CreateComputeQuota ComputeQuotaConfig.PreemptTeamTasks",
    )
    fair_share_weight: StrictInt = setting(
        "the team's share of unused compute, with `scheduling.fair_share`",
        Change.IN_PLACE,
        0,
        ge=0,
        le=100,
        api="sagemaker:CreateComputeQuota ComputeQuotaTarget.FairShareWeight",
    )


class Team(Section):
    """A team with a namespace that its roles can use."""

    name: TeamName = setting(
        "name of the team; its namespace is `hyperpod-ns-NAME`",
        Change.REPLACES_NAMESPACE,
        api="sagemaker:CreateComputeQuota ComputeQuotaTarget.TeamName",
    )
    role_arns: tuple[RoleArn, ...] = setting(
        "ARNs of existing IAM roles that can use the team's namespace, by access entries; a role belongs to one team",
        Change.IN_PLACE,
        (),
        max_length=20,
    )
    pod_security: PodSecurity = setting(
        "Pod Security Standard that the namespace enforces; `privileged` lets a team become root on the nodes",
        Change.IN_PLACE,
        PodSecurity.BASELINE,
    )
    quota: TeamQuota | None = setting("compute quota of the team; default: none", Change.IN_PLACE, None)

    @property
    def namespace(self) -> str:
        """Return the team's namespace, whose name task governance determines."""
        return f"{NAMESPACE_PREFIX}{self.name}"


class PriorityClass(Section):
    """A priority of tasks."""

    name: TeamName = setting(
        "name of the priority, e.g. `training`; tasks select it as `NAME-priority`",
        Change.IN_PLACE,
        api="sagemaker:CreateClusterSchedulerConfig SchedulerConfig.PriorityClasses[].Name",
    )
    weight: StrictInt = setting(
        "weight of its tasks, which start before tasks of a lower weight",
        Change.IN_PLACE,
        ge=0,
        le=100,
        api="sagemaker:CreateClusterSchedulerConfig SchedulerConfig.PriorityClasses[].Weight",
    )


class SchedulingConfig(Section):
    """The priorities of tasks and the sharing between teams (HyperPod task governance)."""

    priority_classes: tuple[PriorityClass, ...] = setting("priorities of tasks", Change.IN_PLACE, (), max_length=10)
    fair_share: StrictBool = setting(
        "share unused compute by the teams' `fair_share_weight`, instead of first come, first served",
        Change.IN_PLACE,
        default=True,
        api="sagemaker:CreateClusterSchedulerConfig SchedulerConfig.FairShare",
    )
    idle_resource_sharing: StrictBool | None = setting(
        "share compute that no team has reserved; default: HyperPod's",
        Change.IN_PLACE,
        None,
        api="sagemaker:CreateClusterSchedulerConfig SchedulerConfig.IdleResourceSharing",
    )
