"""Training plans, which `/_local_aws/training-plans` adds to an account.

A cluster's creation does not check its groups against their plan: HyperPod's response is not published.
"""

from datetime import timedelta
from typing import Any

from local_aws import control
from local_aws.clock import host_now
from local_aws.errors import AwsError
from local_aws.hyperpod.model import clusters
from local_aws.json_service import Call, Json, Operation

DURATION = timedelta(days=30)
_plans: dict[str, Json] = {}


def install() -> None:
    """Register the control path: an object of plans by name, with their type, zone id, count and status; DELETE removes all."""
    control.route("training-plans", _handle)


def put(plans: dict[str, Any]) -> dict[str, Json]:
    """Add plans such as ``{"summer": {"type": "ml.trn1.32xlarge", "zone": "usw2-az4", "count": 4}}`` and return all."""
    for name, plan in plans.items():
        _plans[name] = {
            "type": plan["type"],
            "zone": plan["zone"],
            "count": int(plan["count"]),
            "status": plan.get("status", "Active"),
        }
    return dict(_plans)


def describe_training_plan(call: Call) -> Json:
    """Return the plan, with the number of available instances in the region."""
    name = str(call.request["TrainingPlanName"])
    arn = call.arn("sagemaker", f"training-plan/{name}")
    call.authorize("sagemaker:DescribeTrainingPlan", arn)
    if name not in _plans:
        raise AwsError("ResourceNotFound", f"Training plan {name} does not exist.")
    plan = _plans[name]
    nodes = [node for each in clusters(call.account, call.region).values() for node in each.nodes]
    held = sum(node.spec.get("TrainingPlanArn") == arn for node in nodes)
    begin = host_now() + timedelta(days=7 if plan["status"] == "Scheduled" else -1)
    capacity = {
        "ReservedCapacityArn": call.arn("sagemaker", f"reserved-capacity/{name}"),
        "ReservedCapacityType": "Instance",
        "InstanceType": plan["type"],
        "AvailabilityZoneId": plan["zone"],
        "TotalInstanceCount": plan["count"],
        "Status": plan["status"],
    }
    return {
        "TrainingPlanArn": arn,
        "TrainingPlanName": name,
        "Status": plan["status"],
        "StartTime": begin,
        "EndTime": begin + DURATION,
        "TotalInstanceCount": plan["count"],
        "AvailableInstanceCount": plan["count"] - held,
        "InUseInstanceCount": held,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [capacity],
    }


def reset() -> None:
    """Remove all plans."""
    _plans.clear()


def _handle(request: control.Request) -> dict[str, Json]:
    if request.method == "DELETE":
        reset()
    return put(request.json() or {})


OPERATIONS: dict[str, Operation] = {"DescribeTrainingPlan": describe_training_plan}
