"""Check training plans, Spot and On-Demand capacity."""

from collections.abc import Iterator

from cluster_request.service_model import shape
from config.errors import Level, Problem
from config.instance_group import Role
from config.instance_types import is_listed, types_of_group
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.overrides import member, text
from validation.rules.registry import rule


@rule("training-plan-instance-type", "instance_groups[]", level=Level.WARNING)
def training_plan_instance_type(config: ClusterConfig) -> Iterator[Problem]:
    """A group with a training plan must use an instance type that training plans offer.

    A plan reserves capacity of one instance type: a group of another type gets none, and the cluster does not start. The list of
    offered types is that of the pinned boto3 and can be out of date.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
    sold: list[str] = shape("ReservedCapacityInstanceType")["enum"]
    for index, group in numbered(config.instance_groups):
        others = sorted(name for name in types_of_group(group) - {*sold} if is_listed(name))
        if text(group.overrides, "TrainingPlanArn") and others:
            message = (
                f"no training plans are known for {either(others)}, only for {either(sorted(sold))}; remove it, or suppress "
                "this warning if the plan has this type"
            )
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(path, group.overrides["TrainingPlanArn"], message)


@rule("training-plan-role", "instance_groups[]", level=Level.WARNING)
def training_plan_role(config: ClusterConfig) -> Iterator[Problem]:
    """Controller and login groups must not use a training plan.

    A training plan ends and can have gaps. When the controller's plan ends, the whole cluster stops.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-hyperpod.html
    for index, group in numbered(config.instance_groups):
        if group.role is not Role.COMPUTE and (arn := text(group.overrides, "TrainingPlanArn")):
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(
                path, arn, f"the {group.role} node stops when the plan ends; use training plans only for compute groups"
            )


@rule("capacity-source-conflict", "instance_groups[]", level=Level.WARNING)
def capacity_source_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """A group must have only one capacity source: a training plan, Spot or On-Demand.

    It is not documented which of two HyperPod uses; they differ in price and in when nodes can be reclaimed.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterCapacityRequirements.html
    for index, group in numbered(config.instance_groups):
        kinds = ("Spot", "OnDemand")
        named = [
            f"CapacityRequirements.{kind}" for kind in kinds if member(group.overrides, "CapacityRequirements", kind) is not None
        ]
        if text(group.overrides, "TrainingPlanArn"):
            named = ["TrainingPlanArn", *(name for name in named if name.endswith("Spot"))]
        if len(named) > 1:
            path = ("instance_groups", index, "overrides", "CapacityRequirements")
            yield Problem(path, named, "conflicting capacity sources for one group; keep only one")


@rule("spot-role", "instance_groups[]", level=Level.WARNING)
def spot_role(config: ClusterConfig) -> Iterator[Problem]:
    """Controller and login groups must not use Spot instances.

    EC2 reclaims Spot instances with two minutes' notice. Without its controller the whole cluster stops.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    for index, group in numbered(config.instance_groups):
        spot = member(group.overrides, "CapacityRequirements", "Spot")
        if group.role is not Role.COMPUTE and spot is not None:
            path = ("instance_groups", index, "overrides", "CapacityRequirements", "Spot")
            yield Problem(path, spot, f"EC2 can reclaim the {group.role} node at any time; use Spot only for compute groups")
