"""Rules about where a group's instances come from."""

from collections.abc import Iterator

from cluster_request.service_model import shape
from config.errors import Level, Problem
from config.instance_group import Role
from config.instance_types import is_listed, types_of_group
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import member, text


@rule("types-of-training-plans", "instance_groups[]", level=Level.WARNING)
def types_of_training_plans(config: ClusterConfig) -> Iterator[Problem]:
    """A group with a training plan has an instance type that plans are sold for.

    A plan holds capacity of one type: a group of another gets nothing from it, and the cluster does not start. Which types are
    sold, AWS says in its API's list, to which it adds: this release has the one of its day.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
    sold: list[str] = shape("ReservedCapacityInstanceType")["enum"]
    for index, group in numbered(config.instance_groups):
        others = sorted(name for name in types_of_group(group) - {*sold} if is_listed(name))
        if text(group.overrides, "TrainingPlanArn") and others:
            message = (
                f"this release knows of no plans for {either(others)}, but for {either(sorted(sold))}; "
                "remove it, or silence this if yours is of that type"
            )
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(path, group.overrides["TrainingPlanArn"], message)


@rule("training-plans-of-compute-groups", "instance_groups[]", level=Level.WARNING)
def training_plans_of_compute_groups(config: ClusterConfig) -> Iterator[Problem]:
    """No controller or login group is in a training plan.

    A plan ends, and has pauses: without its controller the cluster stops with it, jobs and queue included.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-hyperpod.html
    for index, group in numbered(config.instance_groups):
        if group.role is not Role.COMPUTE and (arn := text(group.overrides, "TrainingPlanArn")):
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(
                path, arn, f"the {group.role} group would go with the plan; remove it here, and keep it for compute groups"
            )


@rule("one-source-of-capacity", "instance_groups[]", level=Level.WARNING)
def one_source_of_capacity(config: ClusterConfig) -> Iterator[Problem]:
    """A group takes its instances from one source: a training plan, Spot, or On-Demand.

    Which of two is used is not documented, and they differ in price and in who can take the nodes away.
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
            yield Problem(path, named, "name two sources of one group's instances; keep one")


@rule("spot-for-compute-groups", "instance_groups[]", level=Level.WARNING)
def spot_for_compute_groups(config: ClusterConfig) -> Iterator[Problem]:
    """Controller and login groups are not on Spot instances.

    EC2 takes them back at two minutes' notice, and with the controller the whole cluster stands still.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    for index, group in numbered(config.instance_groups):
        spot = member(group.overrides, "CapacityRequirements", "Spot")
        if group.role is not Role.COMPUTE and spot is not None:
            path = ("instance_groups", index, "overrides", "CapacityRequirements", "Spot")
            yield Problem(path, spot, f"EC2 can take the {group.role} back at any time; remove it here")
