"""`./hpod adopt CLUSTER --release`: release a cluster that no stack owns any more."""

from typing import Any

from botocore.exceptions import ClientError

from cli.aws_errors import is_absent
from cli.confirm import Confirm, without_asking
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.resource_code import Cluster, Owner
from cli.result import Result

GONE = ("DELETE_COMPLETE", "DELETE_SKIPPED")
BUSY = "_IN_PROGRESS"


def release_cluster(deployment: Deployment, cluster: Cluster, confirm: Confirm = without_asking) -> Result:
    """Remove the cluster's ownership tags, if no stack has it."""
    owner = cluster.owner
    if owner is None:
        return _result(cluster, f"cluster {cluster.name} has no owner; nothing to release", is_released=False)
    _refuse_if_held(deployment, cluster, owner)
    confirm(f"Remove the ownership tags of cluster {cluster.name}, which belongs to {owner}?")
    deployment.client("sagemaker").delete_tags(ResourceArn=cluster.arn, TagKeys=sorted(owner.tags))
    message = f"released cluster {cluster.name}; `{deployment.hpod('adopt')}` shows what a deployment would change"
    return _result(cluster, message, is_released=True)


def _result(cluster: Cluster, message: str, *, is_released: bool) -> Result:
    return Result({"cluster": cluster.name, "result": "released" if is_released else "unchanged"}, (message,))


def _refuse_if_held(deployment: Deployment, cluster: Cluster, owner: Owner) -> None:
    """Raise where a stack has the cluster, or may come to have it."""
    if owner.stack_id.split(":")[3] != deployment.region:
        raise _held(cluster, owner, f"{owner.stack_id}, which is in another region")
    cloudformation = deployment.client("cloudformation")
    stacks = _tolerant(cloudformation.describe_stacks, "Stacks", StackName=owner.stack_id)
    if stacks is None or stacks[0]["StackStatus"] in GONE:
        return
    names = {"StackName": owner.stack_id, "LogicalResourceId": owner.logical_id}
    resource = _tolerant(cloudformation.describe_stack_resource, "StackResourceDetail", **names)
    status, resource_status = stacks[0]["StackStatus"], resource["ResourceStatus"] if resource else ""
    stack = f"{stacks[0]['StackName']} ({status})"
    # Until a request is answered, CloudFormation has no physical id for a Create, and the old one for a replacing Update.
    if status.endswith(BUSY) or resource_status.endswith(BUSY):
        raise CommandError(
            f"cluster {cluster.name} is {owner.logical_id} of stack {stack}, which is busy; nothing was changed; wait until "
            "the stack is done, and try again"
        )
    if resource and resource_status not in GONE and resource.get("PhysicalResourceId", cluster.name) == cluster.name:
        raise _held(cluster, owner, stack)


def _held(cluster: Cluster, owner: Owner, stack: str) -> CommandError:
    return CommandError(
        f"cluster {cluster.name} is {owner.logical_id} of stack {stack}; nothing was changed; release it from that stack first: "
        "deploy `removal: retain`, then run `cdk destroy`"
    )


def _tolerant(call: Any, member: str, **arguments: str) -> Any:
    """Return the call's answer, or None if the resource does not exist."""
    try:
        return call(**arguments)[member]
    except ClientError as error:
        if is_absent(error):
            return None
        raise
