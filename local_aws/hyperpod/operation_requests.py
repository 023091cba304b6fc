"""ListClusterOperations and DescribeClusterOperation, for clusters with continuous provisioning."""

from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import named_cluster
from local_aws.hyperpod.cluster_operations import is_in_time
from local_aws.hyperpod.model import Cluster
from local_aws.json_service import Call, Json, Operation, page

_SUMMARY = ("OperationId", "ClusterArn", "Type", "Status", "CreationTime")


def _observed(call: Call) -> Cluster:
    cluster = named_cluster(call)
    if not cluster.continuous:
        raise AwsError(
            "ValidationException",
            f"{call.operation} needs NodeProvisioningMode Continuous, which cluster {cluster.name} does not have",
        )
    return cluster


def list_cluster_operations(call: Call) -> Json:
    """Return the operations that match the call's filters, by default newest first."""
    request = call.request
    found = [
        operation
        for operation in _observed(call).operations
        if all(operation[name] == request.get(name, operation[name]) for name in ("Type", "Status"))
        and is_in_time(operation["CreationTime"], request, "CreationTime")
    ]
    if request.get("SortOrder", "Descending") == "Descending":
        found.reverse()
    shown, token = page(call, found)
    return {"ClusterOperationSummaries": [{name: each[name] for name in _SUMMARY} for each in shown], **token}


def describe_cluster_operation(call: Call) -> Json:
    """Return an operation with the groups that it changes or checks."""
    for operation in _observed(call).operations:
        if operation["OperationId"] == call.request["OperationId"]:
            return operation
    raise AwsError("ResourceNotFound", f"Operation {call.request['OperationId']} not found.")


OPERATIONS: dict[str, Operation] = {
    "ListClusterOperations": list_cluster_operations,
    "DescribeClusterOperation": describe_cluster_operation,
}
