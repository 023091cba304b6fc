"""Updates of clusters: settings and version, one at a time."""

import json
from collections.abc import Callable

from local_aws.eks import checks, logs
from local_aws.eks.authorization import named_cluster
from local_aws.eks.errors import in_use, invalid, not_found, refused, unsupported
from local_aws.eks.model import Cluster, Update
from local_aws.eks.pages import list_page
from local_aws.eks.transitions import later
from local_aws.eks.versions import VERSIONS, is_next
from local_aws.json_service import Call, Json, Operation

_IDS = {"subnetIds": "Subnets", "securityGroupIds": "SecurityGroups"}
_ENDPOINTS = {
    "endpointPublicAccess": "EndpointPublicAccess",
    "endpointPrivateAccess": "EndpointPrivateAccess",
    "publicAccessCidrs": "PublicAccessCidrs",
}
Change = tuple[Update, Json]


def update_cluster_config(call: Call) -> Json:
    """Change one kind of settings; the cluster is UPDATING until it applies."""
    cluster = named_cluster(call)
    named = [name for name in call.request if name not in ("name", "clientRequestToken")]
    if len(named) != 1:
        raise refused(f"Only one type of update can be allowed, got {named}")
    if named[0] not in _CHANGES:
        raise unsupported(f"UpdateClusterConfig with {named[0]}")
    _check_idle(cluster, f"{named[0]} update")
    update, settings = _CHANGES[named[0]](call, cluster)
    if all(cluster.settings[name] == value for name, value in settings.items()):
        raise invalid(f"Cluster is already at the desired configuration with {named[0]}: {json.dumps(call.request[named[0]])}")
    return _begin(cluster, update, settings, "eks.update")


def _check_idle(cluster: Cluster, what: str) -> None:
    if cluster.status == "UPDATING":
        running = next(update.id for update in cluster.updates.values() if update.status == "InProgress")
        raise in_use(f"Cannot start {what} because cluster {cluster.name} currently has update {running} in progress")
    if cluster.status != "ACTIVE":
        raise refused(f"Cannot start {what} because cluster {cluster.name} is {cluster.status}")


def _begin(cluster: Cluster, update: Update, settings: Json, name: str) -> Json:
    cluster.status = "UPDATING"
    cluster.updates[update.id] = update

    def finish() -> None:
        cluster.settings |= settings
        cluster.status, update.status = "ACTIVE", "Successful"
        logs.ensure_group(cluster)

    later(name, cluster, finish)
    return {"update": update.details()}


def _logging(call: Call, cluster: Cluster) -> Change:
    change = call.request["logging"]
    update = Update("LoggingUpdate", [{"type": "ClusterLogging", "value": json.dumps(change)}])
    return update, {"logging": logs.merged(cluster.settings["logging"], change)}


def _vpc(call: Call, cluster: Cluster) -> Change:
    change, before = call.request["resourcesVpcConfig"], cluster.settings["resourcesVpcConfig"]
    names = set(change)
    if names & set(_IDS) and names & set(_ENDPOINTS):
        raise refused("Only one type of update can be allowed: subnets and security groups, or endpoint access")
    after = {**before, **change}
    if checks.check_network(call, after) != before["vpcId"]:
        raise invalid(f"Subnets must be in the cluster's VPC {before['vpcId']}")
    checks.check_same_zones(call, before, after)
    kind, labels = ("VpcConfigUpdate", _IDS) if names & set(_IDS) else ("EndpointAccessUpdate", _ENDPOINTS)
    params = [{"type": labels[name], "value": json.dumps(change[name])} for name in change]
    return Update(kind, params), {"resourcesVpcConfig": after}


def _access(call: Call, _: Cluster) -> Change:
    mode = call.request["accessConfig"].get("authenticationMode", "API")
    checks.check_authentication(mode)
    update = Update("AccessConfigUpdate", [{"type": "AuthenticationMode", "value": mode}])
    return update, {"accessConfig": {"authenticationMode": mode}}


def _upgrade_policy(call: Call, cluster: Cluster) -> Change:
    change = call.request["upgradePolicy"]
    update = Update("UpgradePolicyUpdate", [{"type": "UpgradePolicy", "value": json.dumps(change)}])
    return update, {"upgradePolicy": cluster.settings["upgradePolicy"] | change}


def _protection(call: Call, _: Cluster) -> Change:
    value = call.request["deletionProtection"]
    update = Update("DeletionProtectionUpdate", [{"type": "DeletionProtection", "value": json.dumps(value)}])
    return update, {"deletionProtection": value}


_CHANGES: dict[str, Callable[[Call, Cluster], Change]] = {
    "logging": _logging,
    "resourcesVpcConfig": _vpc,
    "accessConfig": _access,
    "upgradePolicy": _upgrade_policy,
    "deletionProtection": _protection,
}


def update_cluster_version(call: Call) -> Json:
    """Change the version that the API reports, to the next one; the API server stays the same program."""
    cluster = named_cluster(call)
    version = call.request.get("version") or ""
    checks.check_version(version)
    _check_idle(cluster, "version update")
    if version == cluster.version:
        raise invalid(f"Cluster is already at the desired configuration with version: {version}")
    if not is_next(cluster.version, version):
        raise invalid(f"Unsupported Kubernetes minor version update from {cluster.version} to {version}")
    platform = f"eks.{VERSIONS[version].platform}"
    params = [{"type": "Version", "value": version}, {"type": "PlatformVersion", "value": platform}]
    settings = {"version": version, "platformVersion": platform}
    return _begin(cluster, Update("VersionUpdate", params), settings, "eks.update.version")


def describe_update(call: Call) -> Json:
    """Return an update of the cluster or of its add-on."""
    cluster = named_cluster(call)
    update = cluster.updates.get(call.request["updateId"])
    if update is None or update.addon != call.request.get("addonName"):
        raise not_found(f"No update found for ID: {call.request['updateId']}")
    return {"update": update.details()}


def list_updates(call: Call) -> Json:
    """Return the ids of the cluster's or an add-on's updates, in pages."""
    cluster = named_cluster(call)
    addon = call.request.get("addonName")
    shown, token = list_page(call, [update.id for update in cluster.updates.values() if update.addon == addon])
    return {"updateIds": shown, **token}


OPERATIONS: dict[str, Operation] = {
    "UpdateClusterConfig": update_cluster_config,
    "UpdateClusterVersion": update_cluster_version,
    "DescribeUpdate": describe_update,
    "ListUpdates": list_updates,
}
