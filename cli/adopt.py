"""`./hpod adopt CLUSTER`: preview the adoption of an existing cluster, or release it from an owner that no longer exists."""

from datetime import UTC, datetime

from cli.aws_errors import unless_absent
from cli.confirm import Confirm, without_asking
from cli.deployment import Deployment
from cli.desired_cluster import desired_cluster
from cli.errors import CommandError
from cli.ownership import GONE, cluster_named, obstacle, whose
from cli.resource_code import (
    Action,
    Call,
    Clock,
    Cluster,
    ClusterApi,
    Desired,
    Fail,
    Memory,
    Owner,
    Wait,
    decide,
    plan,
)
from cli.result import Result

ADD_TAGS = "add these tags"
BUSY = "_IN_PROGRESS"


def adopt(deployment: Deployment, *, release: bool = False, confirm: Confirm = without_asking) -> Result:
    """Compare the cluster named `cluster_name` with the file; only ``release`` changes anything."""
    name = deployment.config.cluster_name
    if name is None:
        raise CommandError("cluster_name: missing", "set it to the name of the cluster to adopt")
    api = ClusterApi(deployment.client("sagemaker"))
    cluster = cluster_named(api, name)
    if cluster is None:
        raise CommandError(f"no cluster {name} in {deployment.region}", "correct `cluster_name` or `region`")
    return (
        release_cluster(deployment, cluster, confirm)
        if release
        else _compared(deployment, cluster, desired_cluster(deployment, cluster, api))
    )


def _compared(deployment: Deployment, cluster: Cluster, desired: Desired) -> Result:
    now = datetime.now(UTC)
    refused = obstacle(deployment, cluster)
    action = Fail(refused) if refused else decide(desired, cluster, Memory(contested=False), Clock(now, now)).action
    found = plan(desired, cluster, {})
    lines = [f"cluster {cluster.name} is {cluster.status} and {whose(cluster)}: {cluster.arn}"]
    changes = [] if isinstance(action, Fail) else [_difference(each, desired, cluster) for each in found.differences]
    if changes:
        lines += ["changes by one UpdateCluster:", *(f"  {each}" for each in changes)]
    tags = [] if isinstance(action, Fail) else _tags(desired, cluster)
    if tags:
        lines += ["tags to add:", *(f"  {each}" for each in tags)]
    if found.kept:
        lines.append(f"groups that are not in the file, and stay unchanged: {', '.join(found.kept)}")
    what = "make these changes" if found.differences else ADD_TAGS if tags else ""
    verdict = _verdict(deployment, cluster, action, what)
    data = {
        "cluster": cluster.name,
        "arn": cluster.arn,
        "status": cluster.status,
        "owner": str(cluster.owner) if cluster.owner else None,
        "changes": changes,
        "tags": tags,
        "unchanged_groups": list(found.kept),
        "deployment": verdict,
    }
    return Result(data, ("\n".join([*lines, verdict]),))


def _tags(desired: Desired, cluster: Cluster) -> list[str]:
    """Return the file's tags that the cluster lacks or has with another value; ownership tags are added, too."""
    wrong = [(key, value, cluster.tags.get(key)) for key, value in sorted(desired.tags.items()) if cluster.tags.get(key) != value]
    return [f"{key}: {value}" if have is None else f"{key}: {have} -> {value}" for key, value, have in wrong]


def _verdict(deployment: Deployment, cluster: Cluster, action: Action, changes: str) -> str:
    word = "" if deployment.config.adopt else "set `adopt: true`, and "
    match action:
        case Fail(reason=reason):
            return f"a deployment would fail: {reason}"
        case Wait(note=note):
            return f"a deployment would wait: {note}"
        case Call(operation="AddTags") if cluster.owner is None:
            what = {"": "change nothing else", ADD_TAGS: f"{ADD_TAGS} and change nothing else"}
            return f"{word}`{deployment.deploy_command}` would adopt it and {what.get(changes, f'then {changes}')}"
    return "the stack already owns it" + (f"; a deployment would {changes}" if changes else "")


def _difference(name: str, desired: Desired, cluster: Cluster) -> str:
    """Return a difference with the cluster's value and the file's."""
    group, _, field = name.partition(".")
    have = cluster.group(group)
    if field and have:
        wanted = next(spec for _, spec in desired.groups() if spec["InstanceGroupName"] == group)
        return f"{name}: {have.specification.get(field)} -> {wanted.get(field)}"
    return f"{name}: {cluster.settings.get(name)} -> {desired.request[name]}" if name in desired.request else name


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
    stacks = unless_absent(lambda: cloudformation.describe_stacks(StackName=owner.stack_id)["Stacks"])
    if stacks is None or stacks[0]["StackStatus"] in GONE:
        return
    names = {"StackName": owner.stack_id, "LogicalResourceId": owner.logical_id}
    resource = unless_absent(lambda: cloudformation.describe_stack_resource(**names)["StackResourceDetail"])
    status, resource_status = stacks[0]["StackStatus"], resource["ResourceStatus"] if resource else ""
    stack = f"{stacks[0]['StackName']} ({status})"
    # Until a request is answered, CloudFormation has no physical id for a Create, and the old one for a replacing Update.
    if status.endswith(BUSY) or resource_status.endswith(BUSY):
        raise CommandError(
            f"cluster {cluster.name} is {owner.logical_id} of stack {stack}, which is busy; nothing was changed",
            "wait until the stack is done, and try again",
        )
    if resource and resource_status not in GONE and resource.get("PhysicalResourceId", cluster.name) == cluster.name:
        raise _held(cluster, owner, stack)


def _held(cluster: Cluster, owner: Owner, stack: str) -> CommandError:
    return CommandError(
        f"cluster {cluster.name} is {owner.logical_id} of stack {stack}; nothing was changed",
        "release it from that stack first: deploy `removal: retain`, then run `cdk destroy`",
    )
