"""`./hpod adopt CLUSTER`: what a deployment would do with a cluster that is there already."""

from datetime import UTC, datetime
from typing import Any

from cli.deployment import Deployment
from cli.errors import OpsError
from cli.ownership import cluster_named, has_own, obstacle, own_owner, resources, whose
from cli.release import release_cluster
from cli.resource_code import (
    Action,
    Call,
    Cluster,
    ClusterApi,
    Desired,
    Event,
    Fail,
    Memory,
    Moment,
    Owner,
    Wait,
    decide,
    plan,
)
from cluster_request.request import RequestValues, cluster_request
from cluster_request.resource_properties import resource_properties, tagged

MADE = "(made by the deployment)"
PUT_TAGS_ON = "put these tags on"
TO_COME = Owner("arn:aws:cloudformation:::stack/to-come/0", "Cluster")


def adopt(deployment: Deployment, *, release: bool = False) -> str:
    """Compare the cluster of the file's `cluster_name` with the file; only with ``release`` anything is changed."""
    name = deployment.config.cluster_name
    if name is None:
        raise OpsError("a cluster is adopted by its name; set `cluster_name` in the file")
    api = ClusterApi(deployment.client("sagemaker"))
    cluster = cluster_named(api, name)
    if cluster is None:
        raise OpsError(f"there is no cluster {name} in {deployment.region}; correct `cluster_name`, or `region`")
    return release_cluster(deployment, cluster) if release else _compared(deployment, cluster, _desired(deployment, cluster, api))


def _compared(deployment: Deployment, cluster: Cluster, desired: Desired) -> str:
    now = datetime.now(UTC)
    refused = obstacle(deployment, cluster)
    action = Fail(refused) if refused else decide(desired, cluster, Memory(contested=False), Moment(now, now)).action
    found = plan(desired, cluster, {})
    lines = [f"cluster {cluster.name} is {cluster.status} and {whose(cluster)}: {cluster.arn}"]
    if found.differences and not isinstance(action, Fail):
        lines += [
            "what would be changed, by one UpdateCluster:",
            *(f"  {each}" for each in _told(found.differences, desired, cluster)),
        ]
    tags = [] if isinstance(action, Fail) else _tags(desired, cluster)
    if tags:
        lines += ["tags that would be put on:", *(f"  {each}" for each in tags)]
    if found.kept:
        lines.append(f"groups that the file does not have, and that would be left alone: {', '.join(found.kept)}")
    what = "make these changes" if found.differences else PUT_TAGS_ON if tags else ""
    return "\n".join([*lines, _verdict(deployment, cluster, action, what)])


def _tags(desired: Desired, cluster: Cluster) -> list[str]:
    """The tags of the file that the cluster has not, or with another value; they come beside those of the owner."""
    wrong = [(key, value, cluster.tags.get(key)) for key, value in sorted(desired.tags.items()) if cluster.tags.get(key) != value]
    return [f"{key}: {value}" if have is None else f"{key}: {have} -> {value}" for key, value, have in wrong]


def _verdict(deployment: Deployment, cluster: Cluster, action: Action, changes: str) -> str:
    word = "" if deployment.config.adopt else "set `adopt: true`, and "
    match action:
        case Fail(reason=reason):
            return f"a deployment would be refused: {reason}"
        case Wait(note=note):
            return f"a deployment would wait: {note}"
        case Call(operation="AddTags") if cluster.owner is None:
            what = {"": "change nothing else", PUT_TAGS_ON: f"{PUT_TAGS_ON}, and change nothing else"}
            return f"{word}`{deployment.deploy_command}` would take it over and {what.get(changes, f'then {changes}')}"
    return "it is the stack's already" + (f"; a deployment would {changes}" if changes else "")


def _told(differences: tuple[str, ...], desired: Desired, cluster: Cluster) -> list[str]:
    """The differences with what the cluster has and what the file wants."""
    wanted = {spec["InstanceGroupName"]: spec for _, spec in desired.groups()}
    return [_difference(each, wanted, desired, cluster) for each in differences]


def _difference(name: str, wanted: dict[str, Any], desired: Desired, cluster: Cluster) -> str:
    group, _, field = name.partition(".")
    have = cluster.group(group)
    if field and have:
        return f"{name}: {have.specification.get(field)} -> {wanted[group].get(field)}"
    return f"{name}: {cluster.settings.get(name)} -> {desired.request[name]}" if name in desired.request else name


def _desired(deployment: Deployment, cluster: Cluster, api: ClusterApi) -> Desired:
    """What the file asks for: of a cluster that the stack has by an Update, else by a Create with `adopt`, set or not."""
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
    """What the file leaves to the deployment: from the stacks as far as they are there."""
    outputs, existing = deployment.outputs(), deployment.config.network.existing
    subnets = outputs["NodeSubnetIds"].split(",") if "NodeSubnetIds" in outputs else [MADE]
    return RequestValues(
        execution_role_arn=_role_arn(deployment),
        source_s3_uri=outputs.get("LifecycleScripts", MADE),
        subnet_ids=existing.node_subnet_ids if existing else subnets,
        security_group_ids=[existing.security_group_id if existing else outputs.get("SecurityGroupId", MADE)],
    )


def _role_arn(deployment: Deployment) -> str:
    roles = [each for each in resources(deployment, "AWS::IAM::Role") if each["LogicalResourceId"].startswith("NodeRole")]
    if not roles:
        return MADE
    return str(deployment.client("iam").get_role(RoleName=roles[0]["PhysicalResourceId"])["Role"]["Arn"])
