"""Operations on add-ons. Their pods are placeholders: there are no images."""

import json
import uuid

from local_aws import faults
from local_aws.clock import host_now
from local_aws.eks import addon_pods
from local_aws.eks.addon_versions import ADDONS, AddonKind, AddonVersion, details
from local_aws.eks.authorization import named_cluster, named_part, request_tags
from local_aws.eks.control_planes import ControlPlaneError, programs
from local_aws.eks.errors import in_use, invalid, not_found, refused
from local_aws.eks.model import Addon, Association, Cluster, Update
from local_aws.eks.pages import list_page
from local_aws.eks.pod_identity import add_association, check_role
from local_aws.eks.transitions import later_for
from local_aws.eks.versions import VERSIONS
from local_aws.json_service import Call, Json, Operation

_BUSY = ("CREATING", "UPDATING", "DELETING")
_NO_REPLICAS = {
    "code": "InsufficientNumberOfReplicas",
    "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.",
    "resourceIds": [],
}


def create_addon(call: Call) -> Json:
    """Create an add-on in status CREATING."""
    request, cluster = call.request, named_cluster(call)
    if cluster.status not in ("ACTIVE", "UPDATING"):
        raise refused(f"Addon cannot be created: cluster {cluster.name} is {cluster.status}, not ACTIVE")
    if request["addonName"] in cluster.addons:
        raise in_use("Addon already exists.")
    kind, version = _chosen(cluster, request["addonName"], request.get("addonVersion"))
    _check_values(request.get("configurationValues"))
    _check_identities(call, version, request.get("podIdentityAssociations") or [])
    settings: Json = {name: request[name] for name in ("serviceAccountRoleArn", "configurationValues") if name in request}
    settings["namespaceConfig"] = request.get("namespaceConfig") or {"namespace": kind.namespace}
    arn = cluster.arn_of("addon", kind.name, str(uuid.uuid4()))
    addon = Addon(cluster.name, kind.name, version.name, arn, settings, request_tags(request))
    cluster.addons[kind.name] = addon
    _associate(cluster, addon, request.get("podIdentityAssociations") or [])
    addon_pods.install(cluster, addon)
    fault = faults.take("eks:CreateAddon", "fail")

    def settle() -> None:
        addon.status, addon.modified = ("CREATE_FAILED" if fault else "ACTIVE"), host_now()
        addon.issues = [{"code": "InternalFailure", "message": fault.message, "resourceIds": []}] if fault else []

    later_for("eks.addon.create", cluster, addon, settle)
    return {"addon": addon.details()}


def _chosen(cluster: Cluster, name: str, version: str | None) -> tuple[AddonKind, AddonVersion]:
    kind = ADDONS.get(name)
    default = kind.default(cluster.version) if kind else None
    if kind is None or default is None:
        raise invalid(f"Addon {name} specified is not supported in {cluster.version} kubernetes version")
    if version is None:
        return kind, default
    for one in kind.for_kubernetes(cluster.version):
        if one.name == version:
            return kind, one
    raise invalid(f"Addon version specified is not supported: {name} {version} for Kubernetes {cluster.version}")


def _check_values(values: str | None) -> None:
    if not values:
        return
    try:
        parsed = json.loads(values)
    except ValueError as error:
        raise invalid(f"ConfigurationValue is not JSON (YAML is not part of the embedded AWS): {error}") from error
    if not isinstance(parsed, dict):
        raise invalid("ConfigurationValue must be an object")


def _check_identities(call: Call, version: AddonVersion, identities: list[Json]) -> None:
    if identities and not version.needs_iam:
        raise invalid(f"Pod Identity feature is not supported for addon version {version.name}; use a PodIdentityAssociation")
    for item in identities:
        check_role(call, item["roleArn"], {"namespace": ADDONS[call.request["addonName"]].namespace, **item})


def _associate(cluster: Cluster, addon: Addon, identities: list[Json]) -> None:
    made: list[Association] = []
    for item in identities:
        names = {"namespace": addon.settings["namespaceConfig"]["namespace"], **item, "ownerArn": addon.arn}
        made.append(add_association(cluster, names, {}))
    if made:
        addon.settings["podIdentityAssociations"] = [one.arn for one in made]


def _refresh(cluster: Cluster, addon: Addon) -> None:
    """Set the health of an add-on with pods: DEGRADED while the cluster has no ready node, or a pod has no place."""
    if not ADDONS[addon.name].needs_nodes or addon.status not in ("ACTIVE", "DEGRADED"):
        return
    ready = _has_ready_node(cluster) and not addon_pods.without_place(cluster, addon)
    addon.status = "ACTIVE" if ready else "DEGRADED"
    addon.issues = [] if ready else [_NO_REPLICAS]


def _has_ready_node(cluster: Cluster) -> bool:
    if cluster.plane is None:
        return False
    try:
        nodes = programs().read(cluster.plane, "/api/v1/nodes")["items"]
    except ControlPlaneError:
        return False  # DEGRADED, as for any cluster that does not answer
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for node in nodes
        for condition in node.get("status", {}).get("conditions") or ()
    )


def _named(call: Call) -> tuple[Cluster, Addon]:
    name = call.request["addonName"]
    cluster, addon = named_part(call, "addon", lambda cluster: cluster.addons.get(name))
    if addon is None:
        raise not_found(f"No addon: {name} found in cluster: {cluster.name}")
    _refresh(cluster, addon)
    return cluster, addon


def describe_addon(call: Call) -> Json:
    """Return the add-on with its health."""
    return {"addon": _named(call)[1].details()}


def list_addons(call: Call) -> Json:
    """Return the names of the cluster's add-ons, in pages."""
    shown, token = list_page(call, sorted(named_cluster(call).addons))
    return {"addons": shown, **token}


def update_addon(call: Call) -> Json:
    """Change version, role or configuration; the add-on is UPDATING until they apply."""
    request, (cluster, addon) = call.request, _named(call)
    if addon.status in _BUSY:
        raise in_use(f"Addon {addon.name} cannot be updated as it is currently in {addon.status} state")
    _, version = _chosen(cluster, addon.name, request.get("addonVersion") or addon.version)
    _check_values(request.get("configurationValues"))
    _check_identities(call, version, request.get("podIdentityAssociations") or [])
    names = {"addonVersion": "AddonVersion", "configurationValues": "ConfigurationValues", "resolveConflicts": "ResolveConflicts"}
    params = [{"type": label, "value": request[name]} for name, label in names.items() if name in request]
    update = Update("AddonUpdate", params, addon=addon.name)
    cluster.updates[update.id] = update
    addon.status = "UPDATING"

    def settle() -> None:
        addon.version = version.name
        addon.settings |= {name: request[name] for name in ("serviceAccountRoleArn", "configurationValues") if name in request}
        if "podIdentityAssociations" in request:
            _drop_associations(cluster, addon)
            _associate(cluster, addon, request["podIdentityAssociations"])
        addon_pods.install(cluster, addon)
        addon.status, addon.modified = "ACTIVE", host_now()
        update.status = "Successful"

    later_for("eks.addon.update", cluster, addon, settle)
    return {"update": update.details()}


def _drop_associations(cluster: Cluster, addon: Addon) -> None:
    addon.settings.pop("podIdentityAssociations", None)
    for association in list(cluster.associations.values()):
        if association.settings.get("ownerArn") == addon.arn:
            del cluster.associations[association.id]


def delete_addon(call: Call) -> Json:
    """Delete the add-on with its own associations; it is DELETING first."""
    cluster, addon = _named(call)
    if addon.status in ("CREATING", "UPDATING"):
        raise in_use(f"Addon {addon.name} cannot be deleted as it is currently in {addon.status} state")
    if addon.status != "DELETING":
        addon.status = "DELETING"
        addon_pods.remove(cluster, addon)

        def settle() -> None:
            _drop_associations(cluster, addon)
            del cluster.addons[addon.name]

        later_for("eks.addon.delete", cluster, addon, settle)
    return {"addon": addon.details()}


def describe_addon_versions(call: Call) -> Json:
    """Return add-ons with their versions, in pages."""
    call.authorize("eks:DescribeAddonVersions", None)
    request = call.request
    found = list(details(request.get("kubernetesVersion"), request.get("addonName")))
    for name, field in (("types", "type"), ("publishers", "publisher"), ("owners", "owner")):
        found = [one for one in found if not request.get(name) or one[field] in request[name]]
    shown, token = list_page(call, found)
    return {"addons": shown, **token}


def describe_addon_configuration(call: Call) -> Json:
    """Return a schema that accepts any settings: the real ones are not public."""
    name, version = call.request["addonName"], call.request["addonVersion"]
    call.authorize("eks:DescribeAddonConfiguration", None)
    if name not in ADDONS or version not in [one.name for one in ADDONS[name].versions]:
        raise invalid(f"Addon {name} with version {version} is not found")
    schema = {"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object"}
    return {"addonName": name, "addonVersion": version, "configurationSchema": json.dumps(schema)}


def describe_cluster_versions(call: Call) -> Json:
    """Return Kubernetes versions, in pages."""
    call.authorize("eks:DescribeClusterVersions", None)
    request = call.request
    found = [version.details() for version in VERSIONS.values()]
    found = [one for one in found if one["clusterVersion"] in (request.get("clusterVersions") or VERSIONS)]
    if request.get("defaultOnly"):
        found = [one for one in found if one["defaultVersion"]]
    for name in ("status", "versionStatus"):
        found = [one for one in found if one[name] == request.get(name, one[name])]
    shown, token = list_page(call, found)
    return {"clusterVersions": shown, **token}


OPERATIONS: dict[str, Operation] = {
    "CreateAddon": create_addon,
    "DescribeAddon": describe_addon,
    "ListAddons": list_addons,
    "UpdateAddon": update_addon,
    "DeleteAddon": delete_addon,
    "DescribeAddonConfiguration": describe_addon_configuration,
    "DescribeAddonVersions": describe_addon_versions,
    "DescribeClusterVersions": describe_cluster_versions,
}
