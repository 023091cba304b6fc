"""`./hpod nodes CLUSTER`: the nodes, and how to get a shell on each."""

import os
import shlex

from cli.deployment import Deployment
from cli.table import table


def nodes(deployment: Deployment) -> str:
    """Return every node with its group, and the command that starts a shell on one."""
    cluster = deployment.cluster()
    rows = [(node["InstanceId"], node["InstanceGroupName"]) for node in deployment.nodes(cluster["ClusterName"])]
    return "\n\n".join(
        (table(("NODE", "GROUP"), rows), _start_session(cluster["ClusterArn"].rpartition("/")[2], deployment.region))
    )


def _start_session(cluster_id: str, region: str) -> str:
    """Return the command on two lines, as terminals break a longer one."""
    profile = os.environ.get("AWS_PROFILE")
    # The AWS CLI takes --profile before keys in the environment, which boto3 has used here.
    own = [] if profile is None or "AWS_ACCESS_KEY_ID" in os.environ else ["--profile", profile]
    return "\n".join(
        (
            "a shell on a node, with its group and id in place of GROUP-NODE:",
            f"  {shlex.join(['aws', 'ssm', 'start-session', '--region', region, *own])} \\",
            f"    --target sagemaker-cluster:{cluster_id}_GROUP-NODE",
            "it requires the AWS CLI's Session Manager plugin",
        )
    )
