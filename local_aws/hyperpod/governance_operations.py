"""HyperPod task governance: the operations on compute quotas and scheduler configs.

Assumed: TargetVersion is the current version; changes take a while and end in a status; a team and a name have one quota per
cluster, and a cluster one scheduler config. The caller's rights are those that CloudFormation's registry lists for
AWS::SageMaker::ClusterSchedulerConfig. No Kueue runs: the add-on must exist, but quotas have no effect on pods.
"""

from collections.abc import Callable

from local_aws import faults
from local_aws.clock import host_now
from local_aws.durations import duration
from local_aws.eks import model as eks
from local_aws.errors import AwsError
from local_aws.hyperpod import governance_model as model
from local_aws.hyperpod.authorization import tag_context
from local_aws.hyperpod.cluster_operations import is_in_time
from local_aws.hyperpod.eks_access import service_role_arn
from local_aws.hyperpod.governance_model import QUOTA, SCHEDULER, Item
from local_aws.hyperpod.model import Cluster, find, lock
from local_aws.hyperpod.tag_operations import check_tags, from_list
from local_aws.json_service import Call, Context, Json, Operation, page
from local_aws.schedule import schedule

ADDON = "amazon-sagemaker-hyperpod-taskgovernance"
_NOT_SETTINGS = ("Name", "ClusterArn", "Tags", "TargetVersion", "ComputeQuotaId", "ClusterSchedulerConfigId")
_SHOWN_IN_LISTS = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState")
_SORTED_BY: dict[str, Callable[[Item], str]] = {
    "Name": lambda item: item.name,
    "Status": lambda item: item.status,
    "ClusterArn": lambda item: item.cluster_arn,
    "CreationTime": lambda item: item.created.isoformat(),
}


def create(resource: str, call: Call) -> Json:
    """Create an item in status Creating."""
    request, item_id = call.request, model.new_id()
    arn, tags = model.arn_of(call, resource, item_id), from_list(call.request.get("Tags") or [])
    given = tag_context(tags, "aws:RequestTag")
    call.authorize(f"sagemaker:{call.operation}", arn, given)
    _authorize_on_cluster(call, given)
    if tags:
        call.authorize("sagemaker:AddTags", arn, given | {"sagemaker:TaggingAction": call.operation})
    check_tags(tags)
    cluster = _cluster(call, request["ClusterArn"])
    _authorize_access(call, cluster.eks_arn, "AssociateAccessPolicy")
    defaults = {"ActivationState": "Enabled"} if resource == QUOTA else {}
    item = Item(resource, item_id, arn, cluster.arn, request["Name"], {**defaults, **_settings(request)}, tags)
    _check_unique(item)
    model.add(item)
    _settle(call, item, "Created")
    return {f"{resource}Arn": arn, f"{resource}Id": item_id}


def update(resource: str, call: Call) -> Json:
    """Change an item in its current version."""
    item = _idle(resource, call)
    if call.request["TargetVersion"] != item.version:
        raise _conflict(f"version {call.request['TargetVersion']} of {item.arn} is not the current version {item.version}")
    cluster = _cluster(call, item.cluster_arn)
    _authorize_access(call, cluster.eks_arn, "AssociateAccessPolicy")
    item.settings |= _settings(call.request)
    item.version, item.status, item.failure, item.modified = item.version + 1, "Updating", "", host_now()
    _settle(call, item, "Updated")
    return {f"{resource}Arn": item.arn, f"{resource}Version": item.version}


def describe(resource: str, call: Call) -> Json:
    """Return an item; only its current version is kept."""
    item = _existing(resource, call)
    failure = {"FailureReason": item.failure} if item.failure else {}
    return {**_summary(item), **item.settings, **failure}


def delete(resource: str, call: Call) -> Json:
    """Delete an item; it is Deleting first."""
    item = _idle(resource, call)
    cluster = find(call, item.cluster_arn)
    if cluster:
        _authorize_access(call, cluster.eks_arn, "DisassociateAccessPolicy")
    item.status = "Deleting"
    _settle(call, item, "Deleted")
    return {}


def list_items(resource: str, call: Call) -> Json:
    """Return the items that match the call's filters, in pages."""
    call.authorize(f"sagemaker:{call.operation}", None)
    request = call.request
    found = [
        item
        for item in model.of_caller(call, resource)
        if request.get("NameContains", "") in item.name
        and request.get("ClusterArn", item.cluster_arn) == item.cluster_arn
        and request.get("Status", item.status) == item.status
        and is_in_time(item.created, request, "Created")
    ]
    found.sort(key=_SORTED_BY[request.get("SortBy", "CreationTime")])
    if request.get("SortOrder", "Ascending") == "Descending":
        found.reverse()
    shown, token = page(call, found)
    settings = [{name: item.settings[name] for name in _SHOWN_IN_LISTS if name in item.settings} for item in shown]
    summaries = [{**_summary(item), **more} for item, more in zip(shown, settings, strict=True)]
    return {f"{resource}Summaries": summaries, **token}


def _settings(request: Json) -> Json:
    return {name: value for name, value in request.items() if name not in _NOT_SETTINGS}


def _summary(item: Item) -> Json:
    resource = item.resource
    return {
        f"{resource}Arn": item.arn,
        f"{resource}Id": item.id,
        f"{resource}Version": item.version,
        "Name": item.name,
        "Status": item.status,
        "ClusterArn": item.cluster_arn,
        "CreationTime": item.created,
        "LastModifiedTime": item.modified,
    }


def _existing(resource: str, call: Call) -> Item:
    """Return the item of the call, if the caller may perform the operation on it."""
    arn = model.arn_of(call, resource, call.request[f"{resource}Id"])
    item = model.by_arn(arn)
    call.authorize(f"sagemaker:{call.operation}", arn, tag_context(item.tags, "aws:ResourceTag") if item else {})
    if item is None:
        raise AwsError("ResourceNotFound", f"{arn} not found.")
    return item


def _idle(resource: str, call: Call) -> Item:
    item = _existing(resource, call)
    if item.is_busy:
        raise _conflict(f"{item.arn} is {item.status}")
    return item


def _cluster(call: Call, arn: str) -> Cluster:
    """Return the cluster, if it can have quotas."""
    call.authorize("sagemaker:DescribeCluster", arn)
    cluster = find(call, arn)
    if cluster is None:
        raise AwsError("ResourceNotFound", f"Cluster {arn} not found.")
    if not cluster.eks_arn:
        raise _invalid(f"Cluster {cluster.name} is not orchestrated by EKS")
    if cluster.status not in ("InService", "Updating"):
        raise _invalid(f"Cluster {cluster.name} is {cluster.status}; it must be InService")
    call.authorize("eks:DescribeCluster", cluster.eks_arn)
    with eks.lock:
        found = eks.by_arn(cluster.eks_arn)
        addon = found.addons.get(ADDON) if found else None
    if addon is None or addon.status not in ("ACTIVE", "DEGRADED"):
        state = addon.status if addon else "not installed"
        raise _invalid(f"The EKS add-on {ADDON} is {state} on {cluster.eks_arn}; it must be ACTIVE")
    return cluster


def _authorize_on_cluster(call: Call, given: Context) -> None:
    """Check the caller's right to create on the cluster: the service authorization reference requires both resources."""
    arn = call.request["ClusterArn"]
    cluster = find(call, arn)
    tags = tag_context(cluster.tags, "aws:ResourceTag") if cluster else {}
    call.authorize(f"sagemaker:{call.operation}", arn, {**tags, **given})


def _authorize_access(call: Call, eks_arn: str, change: str) -> None:
    """Check the caller's rights on HyperPod's own access entry."""
    with eks.lock:
        found = eks.by_arn(eks_arn)
        entry = found.entries.get(service_role_arn(call.account, call.partition)) if found else None
    if entry is None:
        return
    for action in ("DescribeAccessEntry", "ListAssociatedAccessPolicies", change):
        call.authorize(f"eks:{action}", entry.arn)


def _check_unique(item: Item) -> None:
    for other in model.of_cluster(item.cluster_arn):
        if other.resource != item.resource:
            continue
        if item.resource == SCHEDULER:
            raise _conflict(f"Cluster {item.cluster_arn} already has the scheduler config {other.name}")
        if other.name == item.name or other.team == item.team:
            raise _conflict(f"Cluster {item.cluster_arn} already has quota {other.name} of team {other.team}")


def _settle(call: Call, item: Item, status: str) -> None:
    """End the change after a while, or fail it as ordered."""
    fault = faults.take(f"sagemaker:{call.operation}", "fail")
    version = item.version

    def end() -> None:
        with lock:
            if model.by_arn(item.arn) is not item or item.version != version or not item.is_busy:
                return
            if fault:
                item.status, item.failure = f"{status.removesuffix('d')}Failed", fault.message
            elif status == "Deleted":
                model.remove(item)
            else:
                item.status = status

    schedule.after(duration("hyperpod.quota"), end)


def _conflict(text: str) -> AwsError:
    return AwsError("ConflictException", text)


def _invalid(text: str) -> AwsError:
    return AwsError("ValidationException", text)


def _operation(resource: str, function: Callable[[str, Call], Json]) -> Operation:
    return lambda call: function(resource, call)


OPERATIONS: dict[str, Operation] = {
    name: _operation(resource, function)
    for resource in (QUOTA, SCHEDULER)
    for name, function in (
        (f"Create{resource}", create),
        (f"Update{resource}", update),
        (f"Describe{resource}", describe),
        (f"Delete{resource}", delete),
        (f"List{resource}s", list_items),
    )
}
