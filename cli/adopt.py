"""`./hpod adopt CLUSTER`: preview the adoption of an existing cluster."""

from datetime import UTC, datetime
from typing import Any

from cli.confirm import Confirm, without_asking
from cli.deployment import Deployment
from cli.errors import OpsError
from cli.ownership import cluster_named, has_own, obstacle, own_owner, resources, whose
from cli.release import release_cluster
from cli.resource_code import (
    Action,
    Call,
    Clock,
    Cluster,
    ClusterApi,
    Desired,
    Event,
    Fail,
    Memory,
    Owner,
    Wait,
    decide,
    plan,
)
from cli.result import Result
from cluster_request.request import RequestValues, cluster_request
from cluster_request.resource_properties import resource_properties, tagged

MADE = "(created by the deployment)"
ADD_TAGS = "add these tags"
TO_COME = Owner("arn:aws:cloudformation:::stack/to-come/0", "Cluster")


def adopt(deployment: Deployment, *, release: bool = False, confirm: Confirm = without_asking) -> Result:
    """Compare the cluster named `cluster_name` with the file; only ``release`` changes anything."""
    name = deployment.config.cluster_name
    if name is None:
        raise OpsError("cluster_name: missing; set it to the name of the cluster to adopt")
    api = ClusterApi(deployment.client("sagemaker"))
    cluster = cluster_named(api, name)
    if cluster is None:
        raise OpsError(f"no cluster {name} in {deployment.region}; correct `cluster_name` or `region`")
    return (
        release_cluster(deployment, cluster, confirm)
        if release
        else _compared(deployment, cluster, _desired(deployment, cluster, api))
    )


def _compared(deployment: Deployment, cluster: Cluster, desired: Desired) -> Result:
    now = datetime.now(UTC)
    refused = obstacle(deployment, cluster)
    action = Fail(refused) if refused else decide(desired, cluster, Memory(contested=False), Clock(now, now)).action
    found = plan(desired, cluster, {})
    lines = [f"cluster {cluster.name} is {cluster.status} and {whose(cluster)}: {cluster.arn}"]
    changes = [] if isinstance(action, Fail) else _changes(found.differences, desired, cluster)
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
        "cluster": {
            "name": cluster.name,
            "arn": cluster.arn,
            "status": cluster.status,
            "owner": str(cluster.owner) if cluster.owner else None,
        },
        "changes": changes,
        "tags": tags,
        "unchanged_groups": list(found.kept),
        "verdict": verdict,
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


def _changes(differences: tuple[str, ...], desired: Desired, cluster: Cluster) -> list[str]:
    """Return each difference with the cluster's value and the file's."""
    wanted = {spec["InstanceGroupName"]: spec for _, spec in desired.groups()}
    return [_difference(each, wanted, desired, cluster) for each in differences]


def _difference(name: str, wanted: dict[str, Any], desired: Desired, cluster: Cluster) -> str:
    group, _, field = name.partition(".")
    have = cluster.group(group)
    if field and have:
        return f"{name}: {have.specification.get(field)} -> {wanted[group].get(field)}"
    return f"{name}: {cluster.settings.get(name)} -> {desired.request[name]}" if name in desired.request else name


def _desired(deployment: Deployment, cluster: Cluster, api: ClusterApi) -> Desired:
    """Return what the file requests: an Update of the stack's own cluster, else a Create with `adopt`, whether set or not."""
    config, is_own = deployment.config, has_own(deployment, cluster)
    request = tagged(cluster_request(config, values=_values(deployment)), config)
    properties = {**resource_properties(config, request, network_identity=MADE), "Adopt": not is_own}
    owner = own_owner(deployment, cluster) or TO_COME
    raw = {
        "StackId": owner.stack_id,
        "LogicalResourceId": owner.logical_id,
        "RequestType": "Update" if is_own else "Create",
        **({"PhysicalResourceId": cluster.name} if is_own else {}),
        "RequestId": "",
        "ResponseURL": "",
        "ResourceProperties": properties,
    }
    return Desired.of(Event.parse(raw), api.request_shape)


def _values(deployment: Deployment) -> RequestValues:
    """Return the values that the deployment fills in, from those stacks that exist."""
    outputs, existing, storage = deployment.outputs(), deployment.config.network.existing, deployment.config.storage
    subnets = outputs["NodeSubnetIds"].split(",") if "NodeSubnetIds" in outputs else [MADE]
    return RequestValues(
        execution_role_arn=_role_arn(deployment),
        source_s3_uri=outputs.get("LifecycleScripts", MADE),
        subnet_ids=existing.node_subnet_ids if existing else subnets,
        security_group_ids=[existing.security_group_id if existing else outputs.get("SecurityGroupId", MADE)],
        file_system_dns_name=_dns_name(deployment, outputs),
        file_system_mount_name=outputs.get("FileSystemMountName", storage.existing.mount_name if storage.existing else MADE),
    )


def _dns_name(deployment: Deployment, outputs: dict[str, str]) -> str | None:
    """Return the DNS name of the Lustre file system, which the storage stack knows or will create; None without one."""
    storage = deployment.config.storage
    if storage.existing:
        return f"{storage.existing.file_system_id}.fsx.{deployment.region}.amazonaws.com"
    return outputs.get("FileSystemDnsName", MADE) if storage.lustre else None


def _role_arn(deployment: Deployment) -> str:
    roles = [each for each in resources(deployment, "AWS::IAM::Role") if each["LogicalResourceId"].startswith("NodeRole")]
    if not roles:
        return MADE
    return str(deployment.client("iam").get_role(RoleName=roles[0]["PhysicalResourceId"])["Role"]["Arn"])
