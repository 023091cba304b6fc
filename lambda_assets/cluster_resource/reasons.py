"""Runs in Lambda. Failures in an operator's words: what failed, which group, the service's reason, where to read, what to do."""

import re

from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.decision import Memory
from cluster_resource.desired import Desired
from cluster_resource.event import Owner, owner_of
from cluster_resource.observed import Cluster, Node

MAX_MESSAGES = 3
MAX_MESSAGE = 400
QUOTA = r"(?s)limit '(?P<name>[^']+)' is (?P<limit>\d+).*?utilization of (?P<used>\d+).*?delta of (?P<delta>\d+)"
"""Compiled at the first use, and not at every cold start."""


def failed(desired: Desired | None, cluster: Cluster, memory: Memory) -> str:
    """Why a cluster is Failed, or went back to what it was."""
    message = memory.failure or cluster.failure or "the service gave no reason"
    parts = [f"cluster {cluster.name} is {cluster.status}: {message}", *_nodes(cluster)]
    return "; ".join([*parts, *_capacity(desired, cluster, message), *_groups(cluster)])


def update_undone(desired: Desired, cluster: Cluster, memory: Memory, missed: str) -> str:
    """An update that the service undid: InService again, but not as asked."""
    message = memory.failure or cluster.failure
    is_old = not memory.failure and cluster.failure == memory.old_failure
    said = (f": {message}" + (" (it said so before this update, too)" if is_old else "")) if message else " and gave no reason"
    parts = [f"the service undid the update of cluster {cluster.name}{said}", f"not as asked: {missed}", *_nodes(cluster)]
    return "; ".join([*parts, *_capacity(desired, cluster, message)])


def name_taken(cluster: Cluster, *, is_adopting: bool = False) -> str:
    """The name is taken by a cluster that is not ours."""
    owner = owner_of(cluster.tags)
    whose = f"belongs to {owner}" if owner else "carries no tags of this stack"
    way = "set `adopt` to take it over"
    if owner:
        way = "free it by `python -m ops adopt CLUSTER --release` once that stack is gone"
    elif is_adopting:
        way = "adopt it in a stack that has no cluster yet: an update takes none over"
    return (
        f"cluster {cluster.name} exists and {whose}: {cluster.arn}; it was not touched; choose another `cluster_name`, "
        f"delete that cluster yourself, or {way}"
    )


def left_stack(cluster: Cluster) -> str:
    """The stack had the cluster before, and it runs on."""
    return (
        f"cluster {cluster.name} left this stack and runs on: {cluster.arn}; it was not touched; set `cluster_name` to its name "
        "and `adopt: true` to take it back, or delete it yourself"
    )


def disappeared(name: str) -> str:
    """The cluster was there and is not any more."""
    return f"cluster {name} disappeared while it was being provisioned: somebody deleted it; deploy again once nobody does"


def absent(name: str) -> str:
    """The cluster of an update is not there."""
    return (
        f"cluster {name} does not exist any more: it was deleted outside CloudFormation; to get a new one, set `recreate`, or "
        "destroy the stack (it tolerates the absence) and deploy it again"
    )


def timed_out(desired: Desired, cluster: Cluster | None, memory: Memory) -> str:
    """The time is up."""
    trouble = f"; last trouble: {memory.last_error}" if memory.last_error else ""
    rollback = [continue_rollback(desired.owner)] if desired.type == "Update" else []
    if cluster is None:
        text = f"{desired.type} of cluster {memory.cluster or desired.initial_name} was not done after 57 minutes{trouble}"
        return "; ".join([text, *rollback])
    if desired.type == "Delete":
        advice = "delete the stack again: it goes on where this ended"
    else:
        advice = "raise `wait_hours`, or find out why the nodes are slow"
    failure = f"; {memory.failure}" if memory.failure else ""
    text = f"cluster {cluster.name} is still {cluster.status} after 57 minutes: {cluster.progress}{failure}"
    return "; ".join([text + trouble, *_nodes(cluster), advice, *rollback])


def continue_rollback(owner: Owner) -> str:
    """What to do where the Update that ran out of time was a rollback's, which CloudFormation does not tell the resource."""
    region = owner.stack_id.partition(":cloudformation:")[2].partition(":")[0]
    stack = owner.stack_id.partition("/")[2].partition("/")[0]
    return (
        "if this was a rollback, the stack is now in UPDATE_ROLLBACK_FAILED: wait until the cluster is InService, then "
        f"`aws cloudformation continue-update-rollback --stack-name {stack} --region {region}`, with "
        f"`--resources-to-skip {owner.logical_id}` to leave the cluster as it is"
    )


def blocked(cluster: Cluster, node: Node) -> str:
    """A deletion that cannot end, because the service may not use the execution role any more."""
    return (
        f"cluster {cluster.name} is stuck in Deleting: node {node.id} of {node.group}: {_cut(node.message)}; give the "
        "execution role that permission back (the role and its policy must outlive the cluster), then delete the stack again"
    )


def refused(error: ApiError, desired: Desired) -> str:
    """A call that the service will not take."""
    if error.kind is Kind.QUOTA:
        return _quota(error)
    if error.kind is Kind.ROLE:
        roles = sorted({group.get("ExecutionRole", "?") for _, group in desired.groups()})
        return (
            f"{error.operation} failed for 5 minutes because the execution role cannot be assumed: {', '.join(roles)}: "
            f"{error.text}; its trust policy must allow sagemaker.amazonaws.com"
        )
    if error.kind is Kind.DENIED:
        return f"the function may not call sagemaker:{error.operation}: {error.text}; allow it in the function's role"
    return f"{error.operation} was refused: {error.code}: {error.text}"


def _quota(error: ApiError) -> str:
    numbers = re.search(QUOTA, error.text)
    if numbers is None:
        return f"a quota is too small: {error.text}; ask for more in Service Quotas, Amazon SageMaker"
    return (
        f"quota '{numbers['name']}' is {numbers['limit']}, {numbers['used']} in use, {numbers['delta']} more asked for; "
        f"ask for more in Service Quotas, Amazon SageMaker, or lower instance_count; the service said: {error.text}"
    )


def _groups(cluster: Cluster) -> list[str]:
    short = [group for group in cluster.groups if group.current < group.target or group.status in ("Failed", "Degraded")]
    return [
        f"group {group.name} ({group.specification.get('InstanceType', 'any type')}): {group.current} of {group.target} nodes"
        for group in short[:MAX_MESSAGES]
    ]


def _capacity(desired: Desired | None, cluster: Cluster, message: str) -> list[str]:
    """What may be done where the service had no capacity."""
    if "capacity" not in message.lower():
        return []
    zone = f" in {desired.zone}" if desired and desired.zone else ""
    return [f"no capacity for {_types(cluster, message)}{zone}: try later, another zone or type, fewer nodes, or a training plan"]


def _types(cluster: Cluster, message: str) -> str:
    """The instance types that the service's message names, else those of the groups that lack nodes."""
    named = re.findall(r"\bml\.[a-z0-9-]+\.[a-z0-9-]*[a-z0-9]", message)
    if named:
        return ", ".join(sorted(set(named)))
    short = [group for group in cluster.groups if group.current < group.target] or list(cluster.groups)
    return ", ".join(sorted({str(group.specification.get("InstanceType", "any type")) for group in short}))


def _failing(cluster: Cluster) -> list[Node]:
    return [node for node in cluster.nodes or () if node.has_failed]


def _nodes(cluster: Cluster) -> list[str]:
    """Some nodes that failed, each message once: four hundred nodes mostly say the same."""
    first: dict[str, Node] = {}
    for node in _failing(cluster):
        first.setdefault(node.message, node)
    return [
        f"node {node.id} of {node.group}: {_cut(node.message) or node.status}" for node in list(first.values())[:MAX_MESSAGES]
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 3] + "..."
