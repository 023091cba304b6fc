"""The operations that a cluster keeps: requests that HyperPod works on in the background, with continuous provisioning.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-cluster-operations.html: scaling and deep health checks.
Assumed: a later request for the same cluster supersedes one in progress, because the embedded AWS works on one change at a time.
"""

import uuid
from collections.abc import Mapping

from local_aws.clock import clock
from local_aws.hyperpod.model import Cluster, Group
from local_aws.json_service import Json

SCALING, DEEP_HEALTH_CHECK = "Scaling", "DeepHealthCheck"
IN_PROGRESS, SUPERSEDED, DONE = "InProgress", "Superseded", "Done"


def begin_scaling(cluster: Cluster, before: Mapping[str, Group], after: Mapping[str, Group]) -> None:
    """Record an operation, if the counts of groups change and nodes are provisioned continuously."""
    names = [name for name in {**before, **after} if _target(before, name) != _target(after, name)]
    if names and cluster.continuous:
        end(cluster, SUPERSEDED)
        details = [_scaling(cluster, name, before, after) for name in names]
        record(cluster, SCALING, {"ScalingDetails": details})


def record(cluster: Cluster, kind: str, details: Json) -> Json:
    """Add an operation in progress to the cluster, and return it."""
    operation: Json = {
        "OperationId": str(uuid.uuid4()),
        "ClusterArn": cluster.arn,
        "Type": kind,
        "Status": IN_PROGRESS,
        "CreationTime": clock.now(),
        **details,
    }
    cluster.operations.append(operation)
    return operation


def end(cluster: Cluster, status: str = DONE, kind: str = SCALING) -> None:
    """Set the status of the operations of a kind that are in progress."""
    for operation in cluster.operations:
        if operation["Type"] == kind and operation["Status"] == IN_PROGRESS:
            operation["Status"] = status
            for group in operation.get("ScalingDetails", ()):
                group["Status"] = status


def _target(groups: Mapping[str, Group], name: str) -> int:
    return groups[name].target if name in groups else 0


def _scaling(cluster: Cluster, name: str, before: Mapping[str, Group], after: Mapping[str, Group]) -> Json:
    current = sum(node.status == "Running" for node in cluster.nodes_of(name))
    return {
        "InstanceGroupName": name,
        "Status": IN_PROGRESS,
        "Original": {"CurrentCount": current, "TargetCount": _target(before, name)},
        "Desired": {"CurrentCount": _target(after, name), "TargetCount": _target(after, name)},
    }
