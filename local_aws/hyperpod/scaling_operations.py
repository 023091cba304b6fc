"""The scaling operations that a cluster keeps: requests that HyperPod works on in the background, with continuous provisioning.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-cluster-operations.html. Assumed: a later request for the same
cluster supersedes one in progress, because the embedded AWS works on one change at a time.
"""

import uuid
from collections.abc import Mapping

from local_aws.clock import host_now
from local_aws.hyperpod.model import Cluster, Group
from local_aws.json_service import Json

SCALING = "Scaling"
IN_PROGRESS, SUPERSEDED, DONE = "InProgress", "Superseded", "Done"


def begin_scaling(cluster: Cluster, before: Mapping[str, Group], after: Mapping[str, Group]) -> None:
    """Record an operation, if the counts of groups change and nodes are provisioned continuously."""
    names = [name for name in {**before, **after} if _target(before, name) != _target(after, name)]
    if not names or not cluster.continuous:
        return
    end_scaling(cluster, SUPERSEDED)
    operation: Json = {
        "OperationId": str(uuid.uuid4()),
        "ClusterArn": cluster.arn,
        "Type": SCALING,
        "Status": IN_PROGRESS,
        "CreationTime": host_now(),
        "ScalingDetails": [_scaling(cluster, name, before, after) for name in names],
    }
    cluster.operations.append(operation)


def end_scaling(cluster: Cluster, status: str = DONE) -> None:
    """Set the status of the scaling operation that is in progress, if there is one."""
    for operation in cluster.operations:
        if operation["Type"] == SCALING and operation["Status"] == IN_PROGRESS:
            operation["Status"] = status
            for group in operation["ScalingDetails"]:
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
