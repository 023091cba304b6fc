"""Check training plans, Spot and On-Demand capacity."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest, GroupMember
from cluster_request.request import CONTINUOUS
from cluster_request.service_model import shape
from config.errors import Level, Problem
from config.instance_group import Capacity, Role
from config.instance_types import is_listed
from config.suggestions import either
from validation.rules.registry import request_rule, slurm_request_rule

NOT_CONTINUOUS = ("requires `provisioning: continuous`", "set that at the cluster's creation, or remove this")


def spot_problems(group: GroupMember, message: str, fix: str) -> Iterator[Problem]:
    """Yield a problem with this message and fix if the group requests Spot instances."""
    spot = group.member("CapacityRequirements", "Spot")
    if spot.is_given:
        yield spot.problem(message, fix, spot.value if spot.is_overridden else Capacity.SPOT.value)


def is_continuous(request: EffectiveRequest) -> bool:
    """Return whether HyperPod provisions the nodes continuously."""
    return request.member("NodeProvisioningMode").text == CONTINUOUS


def continuous_problems(request: EffectiveRequest) -> Iterator[Problem]:
    """Yield a problem with each member of a group that requires continuous provisioning."""
    for group in request.groups:
        least = group.member("MinInstanceCount")
        if least.number is not None and least.number <= group.group.instance_count:  # otherwise min-instance-count reports it
            yield least.problem(*NOT_CONTINUOUS)
        yield from spot_problems(group, *NOT_CONTINUOUS)
        keys = (each.member("VolumeKmsKeyId") for each in group.volumes)
        # A field has the key of two volumes.
        yield from {key.path: key.problem(*NOT_CONTINUOUS) for key in keys if key.text}.values()


@request_rule("training-plan-instance-type", "instance_groups[]", level=Level.WARNING)
def training_plan_instance_type(request: EffectiveRequest) -> Iterator[Problem]:
    """A group with a training plan must use an instance type that training plans offer.

    A plan reserves capacity of one instance type: a group of another type gets none, and the cluster does not start. The list of
    offered types is that of the pinned boto3 and can be out of date.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingPlan.html
    sold: list[str] = shape("ReservedCapacityInstanceType")["enum"]
    for group in request.groups:
        plan = group.member("TrainingPlanArn")
        others = [name for name in group.type_names() if is_listed(name) and name not in sold]
        if plan.text and others:
            yield plan.problem(
                f"no training plans are known for {either(others)}, only for {either(sorted(sold))}",
                "remove it, or suppress this warning if the plan has this type",
            )


@slurm_request_rule("training-plan-role", "instance_groups[]", level=Level.WARNING)
def training_plan_role(request: EffectiveRequest) -> Iterator[Problem]:
    """Controller and login groups must not use a training plan.

    A training plan ends and can have gaps. When the controller's plan ends, the whole cluster stops.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-hyperpod.html
    for group in (*request.of_role(Role.CONTROLLER), *request.of_role(Role.LOGIN)):
        plan = group.member("TrainingPlanArn")
        if plan.text:
            yield plan.problem(
                f"the {group.group.role} node stops when the plan ends", "use training plans only for compute groups"
            )


@request_rule("capacity-source-conflict", "instance_groups[]", level=Level.WARNING)
def capacity_source_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """A group must have only one capacity source: a training plan, Spot or On-Demand.

    It is not documented which of two HyperPod uses; they differ in price and in when nodes can be reclaimed.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterCapacityRequirements.html
    for group in request.groups:
        capacity = group.member("CapacityRequirements")
        if not capacity.is_overridden:
            continue  # training-plan-capacity reports a plan with another `capacity`
        named = [f"CapacityRequirements.{kind}" for kind in ("Spot", "OnDemand") if capacity.member(kind).is_given]
        if group.member("TrainingPlanArn").text:
            named = ["TrainingPlanArn", *(name for name in named if name.endswith("Spot"))]
        if len(named) > 1:
            yield capacity.problem("conflicting capacity sources for one group", "keep only one", named)


@request_rule("training-plan-capacity", "instance_groups[]")
def training_plan_capacity(request: EffectiveRequest) -> Iterator[Problem]:
    """`capacity: training_plan` requires a `training_plan_arn`, which excludes `on_demand` and `spot`.

    Otherwise the group gets instances of another source, at another price.
    """
    for group in request.groups:
        capacity, plan = group.group.capacity, group.member("TrainingPlanArn")
        path = (*group.path, "capacity")
        if capacity is Capacity.TRAINING_PLAN and not plan.is_given:
            yield Problem(path, capacity.value, "requires a training plan", "add `training_plan_arn`, or remove this line")
        elif capacity in (Capacity.ON_DEMAND, Capacity.SPOT) and plan.is_given:
            yield Problem(path, capacity.value, "excludes the group's training plan", "set `training_plan`, or remove the plan")


@slurm_request_rule("spot-role", "instance_groups[]", level=Level.WARNING)
def spot_role(request: EffectiveRequest) -> Iterator[Problem]:
    """Controller and login groups must not use Spot instances.

    EC2 reclaims Spot instances with two minutes' notice. Without its controller the whole cluster stops.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    for group in (*request.of_role(Role.CONTROLLER), *request.of_role(Role.LOGIN)):
        message = f"EC2 can reclaim the {group.group.role} node at any time"
        yield from spot_problems(group, message, "use Spot only for compute groups")


@request_rule("min-instance-count", "instance_groups[]")
def min_instance_count(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's `min_instance_count` must not exceed its `instance_count`.

    The deployment would wait until its timeout for nodes that are not requested.
    """
    for group in request.groups:
        least, count = group.member("MinInstanceCount"), group.group.instance_count
        if (least.number or 0) > count:
            yield least.problem(f"exceeds instance_count {count}", "lower it, or increase instance_count")
