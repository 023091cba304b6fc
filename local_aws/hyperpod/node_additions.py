"""BatchAddClusterNodes: a larger target for groups of a cluster with continuous provisioning."""

from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import named_cluster
from local_aws.hyperpod.changes import begin_update
from local_aws.hyperpod.checks import invalid
from local_aws.hyperpod.model import Cluster, Group, instance_type
from local_aws.hyperpod.starting import free_numbers
from local_aws.json_service import Call, Json, Operation


def batch_add_cluster_nodes(call: Call) -> Json:
    """Raise the targets of groups; the response has a logical id for each node to come. Groups that cannot grow are in `Failed`.

    The documentation names the operation for continuous provisioning alone; the error's text is not public.
    """
    cluster = named_cluster(call)
    if not cluster.continuous:
        raise invalid(f"BatchAddClusterNodes needs NodeProvisioningMode Continuous, which cluster {cluster.name} does not have")
    if cluster.status != "InService":
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in {cluster.status} state and cannot be updated.")
    groups = {name: Group(dict(group.spec), group.status) for name, group in cluster.groups.items()}
    successful: list[Json] = []
    failed: list[Json] = []
    for wanted in call.request["NodesToAdd"]:
        if refused := _refused(cluster, wanted):
            failed.append({"InstanceGroupName": wanted["InstanceGroupName"], "FailedCount": _count(wanted), **refused})
        else:
            successful += _added(cluster, groups[wanted["InstanceGroupName"]], _count(wanted))
    if successful:
        begin_update(cluster, groups, None)
    return {"Successful": successful, "Failed": failed}


def _count(wanted: Json) -> int:
    return int(wanted["IncrementTargetCountBy"])


def _refused(cluster: Cluster, wanted: Json) -> Json | None:
    group = cluster.groups.get(wanted["InstanceGroupName"])
    if group is None:
        return {"ErrorCode": "InstanceGroupNotFound", "Message": f"cluster {cluster.name} has no such instance group"}
    types = wanted.get("InstanceTypes") or []
    if types and instance_type(group.spec) not in types:
        return {
            "ErrorCode": "IncompatibleInstanceTypes",
            "InstanceTypes": types,
            "Message": f"the group's instance type is {instance_type(group.spec)}",
        }
    return None


def _added(cluster: Cluster, group: Group, count: int) -> list[Json]:
    """Raise a group's target and return an entry for each new node."""
    before = group.target
    group.spec["InstanceCount"] = before + count
    numbers = free_numbers(cluster, group)[-count:]
    return [
        {"NodeLogicalId": f"{group.name}-{number}", "InstanceGroupName": group.name, "Status": "Pending"} for number in numbers
    ]


OPERATIONS: dict[str, Operation] = {"BatchAddClusterNodes": batch_add_cluster_nodes}
