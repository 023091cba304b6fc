"""Write the Reason of a FAILED response: what failed, the service's message, the nodes, and a fix."""

import re
from collections.abc import Sequence

from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.decision import Memory
from cluster_resource.desired import Desired
from cluster_resource.event import Owner, owner_of
from cluster_resource.observed import Cluster, Node, core

MAX_MESSAGES = 3
MAX_MESSAGE = 400
QUOTA = r"(?s)limit '(?P<name>[^']+)' is (?P<limit>\d+).*?utilization of (?P<used>\d+).*?delta of (?P<delta>\d+)"

FIXES = (
    (r"(?i)lifecycle scripts? (?:failed|did not run)", "fix the script or its dependencies, and deploy again"),
    (r"(?i)\bquota|LimitExceeded|service limit", "request an increase in Service Quotas, Amazon SageMaker"),
    (r"(?i)health checks? fail|fail\w* [^;]{0,40}health check", "deploy again: HyperPod replaces nodes that fail health checks"),
)
SERVICES = {"DescribeStacks": "cloudformation", "GetObject": "s3"}
LATE = "raise `wait_hours`, or check why the nodes are slow"


def failed(desired: Desired | None, cluster: Cluster, memory: Memory) -> str:
    """Return why the cluster is Failed or rolls back."""
    message = memory.failure or cluster.failure or "the service gave no reason"
    parts = [f"cluster {cluster.name} is {cluster.status}: {message}", *_nodes(cluster, message)]
    return "; ".join([*parts, *_capacity(desired, cluster, message), *_groups(cluster), *_remaining(desired)])


def update_undone(desired: Desired, cluster: Cluster, memory: Memory, missed: str) -> str:
    """Return why the cluster is InService again, but not in the desired state."""
    message = memory.failure or cluster.failure
    is_old = not memory.failure and cluster.failure == memory.old_failure
    text = f"HyperPod rolled back the update of cluster {cluster.name}"
    if message:
        text += f": {message}" + (" (this message is older than the update)" if is_old else "")
    elif not cluster.is_continuous:  # its events have the reason
        text += " and gave no reason"
    parts = [text, f"still different: {missed}", *_nodes(cluster, message)]
    return "; ".join([*parts, *_capacity(desired, cluster, message)])


def kept_members(cluster: Cluster, members: Sequence[str]) -> str:
    """Report members that the file removed and HyperPod keeps although the update was accepted."""
    return (
        f"HyperPod keeps {', '.join(members)} of cluster {cluster.name}, which the file removed; set the old value again, or "
        "recreate the instance group with another name"
    )


def name_taken(cluster: Cluster, *, is_adopting: bool = False) -> str:
    """Report a cluster with the desired name and another owner."""
    owner = owner_of(cluster.tags)
    state = f"belongs to {owner}" if owner else "has no ownership tags"
    fix = "set `adopt` to adopt it"
    if owner:
        fix = "release it with `./hpod adopt CLUSTER --release` after that stack is deleted"
    elif is_adopting:
        fix = "adopt it in a stack without a cluster: an update cannot adopt"
    return (
        f"cluster {cluster.name} already exists and {state}: {cluster.arn}; it was not changed; choose another `cluster_name`, "
        f"delete that cluster, or {fix}"
    )


def left_stack(cluster: Cluster) -> str:
    """Report a cluster that left the stack and still runs."""
    return (
        f"cluster {cluster.name} left this stack and still runs: {cluster.arn}; it was not changed; set `cluster_name` to its "
        "name and `adopt: true` to take it back, or delete it"
    )


def disappeared(name: str) -> str:
    """Report a cluster that was deleted during the request."""
    return f"cluster {name} disappeared during this request: it was deleted outside CloudFormation; deploy again"


def absent(name: str) -> str:
    """Report that the cluster of an update does not exist."""
    return (
        f"cluster {name} no longer exists: it was deleted outside CloudFormation; set `recreate: true` to create a new one, or "
        "destroy the stack (this succeeds without the cluster) and deploy it again"
    )


def replaced_on_eks(desired: Desired, changed: list[str]) -> str:
    """Report a change that replaces a cluster on EKS."""
    file = desired.owner.stack_name.removesuffix("-Cluster")
    return (
        f"{', '.join(changed)} of cluster {desired.physical_id} cannot change: this replaces the cluster, and HyperPod allows "
        f"one cluster per EKS cluster; undo the change, or run `cdk destroy {file}/Addons {file}/Cluster`, then deploy again"
    )


def undeleted_leftover(cluster: Cluster) -> str:
    """Report a cluster that a cancelled replacement created and HyperPod does not delete yet."""
    return (
        f"a cancelled replacement created cluster {cluster.name}, which is {cluster.status} and cannot be deleted yet; continue "
        "the rollback, or deploy again: the next request deletes it"
    )


def timed_out(desired: Desired, cluster: Cluster | None, memory: Memory) -> str:
    """Report that the request reached its deadline."""
    error = f"; last error: {memory.last_error}" if memory.last_error else ""
    # A request that added nodes is hardly a rollback.
    rollback = [continue_rollback(desired.owner)] if desired.type == "Update" and not memory.awaited else []
    if cluster is None:
        text = f"{desired.type} of cluster {memory.cluster or desired.initial_name} did not finish within 57 minutes{error}"
        return "; ".join([text, *rollback])
    fix = ["delete the stack again to continue"] if desired.type == "Delete" else []
    failure = f"; {memory.failure}" if memory.failure else ""
    text = f"cluster {cluster.name} is still {cluster.status} after 57 minutes: {cluster.progress}{failure}"
    return "; ".join([text + error, *_nodes(cluster, memory.failure), *fix, *rollback, *_remaining(desired)])


def _remaining(desired: Desired | None) -> list[str]:
    """Return what a failed first deployment leaves: its rollback deletes only this stack."""
    if desired is None or desired.type != "Create":
        return []
    return ["the Network and Storage stacks stay and can cost money: deploy again, or delete them"]


def continue_rollback(owner: Owner) -> str:
    """Return how to continue a rollback; an Update may be one."""
    region = owner.stack_id.split(":")[3]
    return (
        "if this was a rollback, the stack is now in UPDATE_ROLLBACK_FAILED: wait until the cluster is InService, then run "
        f"`aws cloudformation continue-update-rollback --stack-name {owner.stack_name} --region {region}`, with "
        f"`--resources-to-skip {owner.logical_id}` to skip the cluster"
    )


def deletion_blocked(cluster: Cluster, node: Node) -> str:
    """Report a deletion that waits for a permission of the execution role."""
    return (
        f"cluster {cluster.name} is stuck in Deleting: node {node.id} of {node.group}: {_cut(node.message)}; restore that "
        "permission of the execution role (the role and its policy must outlive the cluster), then delete the stack again"
    )


def call_refused(error: ApiError, desired: Desired) -> str:
    """Report a call that failed for good."""
    if error.kind is Kind.QUOTA:
        return _quota(error)
    if error.kind is Kind.ROLE:
        roles = sorted({group.get("ExecutionRole", "?") for _, group in desired.groups()})
        return (
            f"{error.operation} failed for 5 minutes because the execution role cannot be assumed: {', '.join(roles)}: "
            f"{error.text}; its trust policy must allow sagemaker.amazonaws.com"
        )
    if error.kind is Kind.DENIED:
        service = SERVICES.get(error.operation, "sagemaker")
        return f"the function is not allowed to call {service}:{error.operation}: {error.text}; allow it in the function's role"
    return f"{error.operation} was rejected: {error.code}: {error.text}{_requires_slurm_config(error.text)}"


def _requires_slurm_config(text: str) -> str:
    """Return the fix if HyperPod provisions the account's new clusters continuously."""
    if "SlurmConfig which is required for Continuous" not in text:
        return ""
    return "; set `slurm: {setup: api}` and `provisioning: continuous`"


def _quota(error: ApiError) -> str:
    numbers = re.search(QUOTA, error.text)
    if numbers is None:
        return f"a quota is too small: {error.text}; request an increase in Service Quotas, Amazon SageMaker"
    return (
        f"quota '{numbers['name']}' is {numbers['limit']}: {numbers['used']} in use, {numbers['delta']} more requested; request "
        f"an increase in Service Quotas, Amazon SageMaker, or lower instance_count; service message: {error.text}"
    )


def _groups(cluster: Cluster) -> list[str]:
    short = [group for group in cluster.groups if group.current < group.target or group.status in ("Failed", "Degraded")]
    return [
        f"group {group.name} ({group.instance_type}): {group.current} of {group.target} nodes" for group in short[:MAX_MESSAGES]
    ]


def fixes(cluster: Cluster, zone: str, text: str, *, is_late: bool) -> list[str]:
    """Return what to do about each kind of failure in ``text``; without one, about a deadline."""
    found = [fix for pattern, fix in FIXES if re.search(pattern, text)] + no_capacity(cluster, zone, text)
    return found or ([LATE] if is_late else [])


def _capacity(desired: Desired | None, cluster: Cluster, message: str) -> list[str]:
    return no_capacity(cluster, desired.zone if desired else "", message)


def no_capacity(cluster: Cluster, zone: str, message: str) -> list[str]:
    """Return what to do if the service's ``message`` says that it has no capacity."""
    if "capacity" not in message.lower():
        return []
    where = _types(cluster, message) + (f" in {zone}" if zone else "")
    return [f"no capacity for {where}: try later, another zone or type, fewer nodes, or a training plan"]


def _types(cluster: Cluster, message: str) -> str:
    """Return the instance types in the service's message, or those of the groups that lack nodes."""
    named = re.findall(r"\bml\.[a-z0-9-]+\.[a-z0-9-]*[a-z0-9]", message)
    if named:
        return ", ".join(sorted(set(named)))
    short = [group for group in cluster.groups if group.current < group.target] or list(cluster.groups)
    return ", ".join(sorted({group.instance_type for group in short}))


def _nodes(cluster: Cluster, known: str) -> list[str]:
    """Return some failed nodes, each message once: hundreds of nodes can have the same, or the ``known`` one of another node."""
    first: dict[str, Node] = {}
    for node in cluster.nodes or ():
        if node.has_failed and not (node.message and node.message in known and node.id not in known):
            first.setdefault(core(node.message), node)
    shown = [(node, "" if message and message in known else _cut(node.message) or node.status) for message, node in first.items()]
    return [f"node {node.id} of {node.group}{text and f': {text}'}" for node, text in shown[:MAX_MESSAGES]]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 3] + "..."
