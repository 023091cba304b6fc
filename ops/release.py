"""`python -m ops adopt CLUSTER --release`: free a cluster whose stack is gone or has let it go."""

from typing import Any

from botocore.exceptions import ClientError

from ops.deployment import Deployment
from ops.errors import OpsError
from ops.resource_code import Cluster, Owner

GONE = ("DELETE_COMPLETE", "DELETE_SKIPPED")


def release_cluster(deployment: Deployment, cluster: Cluster) -> str:
    """Take off the tags that say whose the cluster is, if no stack has it."""
    owner = cluster.owner
    if owner is None:
        return f"cluster {cluster.name} has no owner; nothing to release"
    holder = _holder(deployment, cluster, owner)
    if holder:
        raise OpsError(
            f"cluster {cluster.name} is {owner.logical_id} of stack {holder}; it was not touched; let that stack go of it first: "
            "`removal: retain`, and after a deployment of that `cdk destroy` or `implementation: none`"
        )
    deployment.client("sagemaker").delete_tags(ResourceArn=cluster.arn, TagKeys=sorted(owner.tags))
    return f"cluster {cluster.name} has no owner any more; `python -m ops adopt {deployment.config.name}` shows what comes next"


def _holder(deployment: Deployment, cluster: Cluster, owner: Owner) -> str:
    """The stack, with its status, in which the cluster is; empty where there is none."""
    place = owner.stack_id.split(":")
    if place[3] != deployment.region:
        return f"{owner.stack_id}, which is in another region"
    cloudformation = deployment.client("cloudformation")
    stack = _tolerant(cloudformation.describe_stacks, "Stacks", StackName=owner.stack_id)
    if stack is None or stack[0]["StackStatus"] in GONE:
        return ""
    names = {"StackName": owner.stack_id, "LogicalResourceId": owner.logical_id}
    resource = _tolerant(cloudformation.describe_stack_resource, "StackResourceDetail", **names)
    if resource is None or resource["ResourceStatus"] in GONE or resource.get("PhysicalResourceId") != cluster.name:
        return ""
    return f"{stack[0]['StackName']} ({stack[0]['StackStatus']})"


def _tolerant(call: Any, member: str, **arguments: str) -> Any:
    """What the call gives, or None for what does not exist."""
    try:
        return call(**arguments)[member]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise
