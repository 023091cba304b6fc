"""`python -m ops nodes CLUSTER`: the nodes, and how to get a shell on each."""

from ops.deployment import Deployment
from ops.table import table


def nodes(deployment: Deployment) -> str:
    """Every node with the target that Session Manager takes for it."""
    cluster = deployment.cluster()
    cluster_id = cluster["ClusterArn"].rsplit("/", 1)[1]
    rows = [
        (
            node["InstanceId"],
            node["InstanceGroupName"],
            f"sagemaker-cluster:{cluster_id}_{node['InstanceGroupName']}-{node['InstanceId']}",
        )
        for node in deployment.nodes(cluster["ClusterName"])
    ]
    return table(("NODE", "GROUP", "TARGET"), rows) + "\n\na shell on a node: aws ssm start-session --target TARGET"
