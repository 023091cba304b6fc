"""Long operations on clusters for ListClusterOperations and DescribeClusterOperation: deep health checks and scaling."""

import uuid

from local_aws.clock import host_now
from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import named_cluster
from local_aws.hyperpod.cluster_operations import is_in_time
from local_aws.hyperpod.model import Cluster
from local_aws.json_service import Call, Json, Operation, page

IN_PROGRESS, DONE = "InProgress", "Done"
_SUMMARY = ("OperationId", "ClusterArn", "Type", "Status", "CreationTime")


def begin(cluster: Cluster, kind: str, details: Json) -> Json:
    """Add an operation in progress, and return it; ``details`` is its field for this kind."""
    operation: Json = {
        "OperationId": str(uuid.uuid4()),
        "ClusterArn": cluster.arn,
        "Type": kind,
        "Status": IN_PROGRESS,
        "CreationTime": host_now(),
        **details,
    }
    cluster.operations.append(operation)
    return operation


def list_cluster_operations(call: Call) -> Json:
    """Return the operations that match the call's filters, by default newest first."""
    request = call.request
    found = [
        operation
        for operation in named_cluster(call).operations
        if operation["Type"] == request.get("Type", operation["Type"])
        and operation["Status"] == request.get("Status", operation["Status"])
        and is_in_time(operation["CreationTime"], request, "CreationTime")
    ]
    if request.get("SortOrder", "Descending") == "Descending":
        found.reverse()
    shown, token = page(call, found)
    return {"ClusterOperationSummaries": [{name: operation[name] for name in _SUMMARY} for operation in shown], **token}


def describe_cluster_operation(call: Call) -> Json:
    """Return an operation with its details."""
    wanted = call.request["OperationId"]
    for operation in named_cluster(call).operations:
        if operation["OperationId"] == wanted:
            return operation
    raise AwsError("ResourceNotFound", f"Operation {wanted} not found.")


OPERATIONS: dict[str, Operation] = {
    "ListClusterOperations": list_cluster_operations,
    "DescribeClusterOperation": describe_cluster_operation,
}
