"""Operations on clusters: create, describe, update, patch, delete, list."""

import secrets
import string
from datetime import UTC, datetime

from local_aws import faults
from local_aws.clock import clock
from local_aws.durations import duration
from local_aws.errors import AwsError
from local_aws.hyperpod import eks_access, eks_checks, governance_model, quotas
from local_aws.hyperpod.authorization import missing, named_cluster, tag_context
from local_aws.hyperpod.changes import begin_create, begin_software_update, begin_update
from local_aws.hyperpod.checks import check_cluster, check_groups, check_update, growth, invalid
from local_aws.hyperpod.descriptions import cluster_details, cluster_summary
from local_aws.hyperpod.model import IMAGE, Cluster, Group, clusters, is_under_check
from local_aws.hyperpod.removal import begin_delete
from local_aws.hyperpod.service_behaviour import (
    describe_is_stale,
    quotas_block_deletion,
    with_default_provisioning,
    with_left_out,
)
from local_aws.hyperpod.tag_operations import check_tags, from_list
from local_aws.json_service import Call, Context, Json, Operation, page

# The fields besides the groups that UpdateCluster may change.
_CHANGEABLE = ("TieredStorageConfig", "NodeRecovery", "NodeProvisioningMode", "ClusterRole", "AutoScaling", "Orchestrator")
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
_UPDATE_DEPENDS_ON = ("sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes")
_NOT_MODELLED = ("RestrictedInstanceGroups", "RestrictedInstanceGroupsConfig")


def _ordered_failure(call: Call) -> str | None:
    fault = faults.take(f"sagemaker:{call.operation}", "fail")
    return fault.message if fault else None


def _refuse_unsupported(call: Call) -> None:
    for field in _NOT_MODELLED:
        if field in call.request:
            raise invalid(f"{field} is not part of the embedded AWS")


def create_cluster(call: Call) -> Json:
    """Create a cluster in status Creating."""
    _refuse_unsupported(call)
    request, name = call.request, call.request["ClusterName"]
    tags = from_list(request.get("Tags") or [])
    specs = request.get("InstanceGroups") or []
    cluster_id = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(12))
    _authorize_creation(call, cluster_id, tags, specs)
    check_tags(tags)
    if name in clusters(call.account, call.region):
        raise AwsError(
            "ResourceInUse", f"Resource Already Exists: Cluster with name {name} already exists. Choose a different name."
        )
    requested = {key: value for key, value in request.items() if key not in ("ClusterName", "InstanceGroups", "Tags")}
    settings = with_default_provisioning(requested)
    check_cluster(call, settings, specs)
    quotas.check(call.account, call.region, growth(None, specs))
    groups = {spec["InstanceGroupName"]: Group(dict(spec)) for spec in specs}
    cluster = Cluster(call.account, call.region, call.partition, name, cluster_id, settings, tags, groups)
    if cluster.eks_arn:
        eks_access.authorize_creation(call, cluster.eks_arn, specs)
        eks_access.create_entries(call, cluster)
    clusters(call.account, call.region)[name] = cluster
    begin_create(cluster, _ordered_failure(call))
    _keep_showing(cluster, None)
    return {"ClusterArn": cluster.arn}


def _keep_showing(cluster: Cluster, before: Json | None) -> None:
    """Let DescribeCluster show the cluster as before its creation or change for a while."""
    cluster.stale = (clock.seconds() + duration("hyperpod.describe.stale"), before) if describe_is_stale() else None


def _authorize_creation(call: Call, cluster_id: str, tags: dict[str, str], specs: list[Json]) -> None:
    """Check the permissions that the service authorization reference lists for CreateCluster."""
    arn, vpc = call.arn("sagemaker", f"cluster/{cluster_id}"), call.request.get("VpcConfig") or {}
    context: Context = {
        "sagemaker:InstanceTypes": sorted({spec["InstanceType"] for spec in specs if "InstanceType" in spec}),
        "sagemaker:VpcSubnets": list(vpc.get("Subnets", [])),
        "sagemaker:VpcSecurityGroupIds": list(vpc.get("SecurityGroupIds", [])),
        **tag_context(tags, "aws:RequestTag"),
    }
    call.authorize("sagemaker:CreateCluster", arn, {key: value for key, value in context.items() if value})
    if tags:
        creation = {"sagemaker:TaggingAction": call.operation}
        call.authorize("sagemaker:AddTags", arn, {**tag_context(tags, "aws:RequestTag"), **creation})
    call.authorize("sagemaker:UpdateClusterSoftware", arn)


def describe_cluster(call: Call) -> Json:
    """Return the current state of the cluster."""
    cluster = named_cluster(call)
    if cluster.stale is None or clock.seconds() >= cluster.stale[0]:
        return cluster_details(cluster)
    if cluster.stale[1] is None:
        raise missing(cluster.name)
    return cluster.stale[1]


def update_cluster(call: Call) -> Json:
    """Change groups or settings; the cluster is Updating first."""
    cluster, request = named_cluster(call), call.request
    for action in _UPDATE_DEPENDS_ON:
        call.authorize(action, cluster.arn, tag_context(cluster.tags, "aws:ResourceTag"))
    _refuse_unsupported(call)
    _refuse_while_busy(cluster, "updated")
    specs, deleted = request.get("InstanceGroups") or [], request.get("InstanceGroupsToDelete") or []
    changed = {key: request[key] for key in _CHANGEABLE if key in request}
    if not (specs or deleted or changed):
        raise invalid("UpdateCluster must change something")
    check_update(cluster, specs, deleted)
    eks_checks.check_update(cluster, changed)
    new = {spec["InstanceGroupName"]: Group(_updated(cluster, spec), "Creating") for spec in specs}
    kept = {name: Group(dict(group.spec), group.status) for name, group in cluster.groups.items() if name not in deleted}
    groups = {**kept, **new}
    check_groups(call, {**cluster.settings, **changed}, [group.spec for group in groups.values()], specs)
    quotas.check(call.account, call.region, growth(cluster, specs))
    if cluster.eks_arn and specs:
        eks_access.authorize_creation(call, cluster.eks_arn, specs)
    before = cluster_details(cluster)
    cluster.settings |= changed
    begin_update(cluster, groups, _ordered_failure(call))
    _keep_showing(cluster, before)
    if cluster.eks_arn and specs:
        eks_access.create_entries(call, cluster)
    return {"ClusterArn": cluster.arn}


def _updated(cluster: Cluster, spec: Json) -> Json:
    """Return the specification of a group after an update."""
    before = cluster.groups.get(spec["InstanceGroupName"])
    return with_left_out(before.spec, spec) if before else dict(spec)


def update_cluster_software(call: Call) -> Json:
    """Give all groups or some a new image; the cluster is SystemUpdating first."""
    cluster = named_cluster(call)
    _refuse_while_busy(cluster, "updated")
    requested = [group["InstanceGroupName"] for group in call.request.get("InstanceGroups") or []]
    unknown = sorted(set(requested) - set(cluster.groups))
    if unknown:
        raise invalid(f"instance groups {unknown} do not exist in cluster {cluster.name}")
    names = set(requested or cluster.groups)
    before = {name: Group(dict(cluster.groups[name].spec)) for name in names}
    images = {group["InstanceGroupName"]: group for group in call.request.get("InstanceGroups") or []}
    for name in names:
        asked = {**images.get(name, {}), **call.request}
        cluster.groups[name].spec |= {field: asked[field] for field in IMAGE if field in asked}
    begin_software_update(cluster, before, _ordered_failure(call))
    return {"ClusterArn": cluster.arn}


def delete_cluster(call: Call) -> Json:
    """Delete the cluster; it is Deleting first."""
    cluster = named_cluster(call)
    if cluster.status not in ("InService", "Failed"):
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in {cluster.status} state and cannot be deleted.")
    leftover = governance_model.of_cluster(cluster.arn)
    if leftover and quotas_block_deletion():
        names = ", ".join(item.name for item in leftover)
        raise AwsError("ConflictException", f"Cluster {cluster.name} has compute quotas or a scheduler config: {names}")
    eks_access.authorize_deletion(call, cluster)
    begin_delete(cluster, _ordered_failure(call))
    return {"ClusterArn": cluster.arn}


def _refuse_while_busy(cluster: Cluster, done: str) -> None:
    if cluster.status == "Failed":
        raise invalid(f"Cluster {cluster.name} is in Failed state and cannot be {done}: delete and create it again.")
    if cluster.status != "InService":
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in {cluster.status} state and cannot be {done}.")
    if is_under_check(cluster):
        raise AwsError("ConflictException", f"A deep health check of cluster {cluster.name} is in progress; it cannot be {done}.")


def list_clusters(call: Call) -> Json:
    """Return the clusters that match the call's filters, sorted and in pages."""
    call.authorize("sagemaker:ListClusters", None)
    request = call.request
    found = [cluster for cluster in clusters(call.account, call.region).values() if _is_asked_for(cluster, call)]
    by_name = request.get("SortBy") == "NAME"
    found.sort(key=lambda cluster: cluster.name if by_name else cluster.created.isoformat())
    if request.get("SortOrder", "Ascending") == "Descending":
        found.reverse()
    shown, token = page(call, found, default=10)
    return {"ClusterSummaries": [cluster_summary(cluster) for cluster in shown], **token}


def _is_asked_for(cluster: Cluster, call: Call) -> bool:
    return call.request.get("NameContains", "") in cluster.name and is_in_time(
        call.time(cluster.created), call.request, "CreationTime"
    )


def is_in_time(moment: datetime, request: Json, name: str) -> bool:
    """Return whether ``moment`` lies within the request's <name>After and <name>Before, which are epoch seconds."""
    after, before = request.get(f"{name}After"), request.get(f"{name}Before")
    return (after is None or moment > datetime.fromtimestamp(after, UTC)) and (
        before is None or moment < datetime.fromtimestamp(before, UTC)
    )


OPERATIONS: dict[str, Operation] = {
    "CreateCluster": create_cluster,
    "DescribeCluster": describe_cluster,
    "UpdateCluster": update_cluster,
    "UpdateClusterSoftware": update_cluster_software,
    "DeleteCluster": delete_cluster,
    "ListClusters": list_clusters,
}
