"""`./hpod nodes CLUSTER`: the nodes, and the command to open a shell on one."""

import os
import shlex

from cli.deployment import Deployment
from cli.result import Result, Table


def nodes(deployment: Deployment) -> Result:
    """Return every node with its group, and the command that starts a shell on one."""
    cluster = deployment.cluster()
    target = f"sagemaker-cluster:{cluster['ClusterArn'].rpartition('/')[2]}"
    rows = [(node["InstanceId"], node["InstanceGroupName"]) for node in deployment.nodes(cluster["ClusterName"])]
    data = {
        "cluster": cluster["ClusterName"],
        "nodes": [{"instance_id": node, "group": group, "ssm_target": f"{target}_{group}-{node}"} for node, group in rows],
    }
    return Result(data, (Table(("NODE", "GROUP"), rows), _start_session(target, deployment)))


def _start_session(target: str, deployment: Deployment) -> str:
    """Return the command on two lines, as terminals break a longer one."""
    # The AWS CLI takes --profile before keys in the environment, which boto3 has used here.
    profile = deployment.profile or (None if "AWS_ACCESS_KEY_ID" in os.environ else os.environ.get("AWS_PROFILE"))
    own = ["--profile", profile] if profile else []
    return "\n".join(
        (
            "to open a shell on a node, replace GROUP-NODE with its group and id:",
            f"  {shlex.join(['aws', 'ssm', 'start-session', '--region', deployment.region, *own])} \\",
            f"    --target {target}_GROUP-NODE",
            "this requires the AWS CLI and its Session Manager plugin",
        )
    )
