"""EKS: clusters and add-ons. AWS's handlers are not public."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.eks_calls import GONE, pick, retag, with_tags
from local_aws.cloudformation.resources.provider import Context, Provider, changed, tolerate
from local_aws.cloudformation.template import Json
from local_aws.hyperpod.service_behaviour import degraded_is_complete

_ADDON_S = 20 * 60
SCHEDULER_S = 15  # of this machine: Kubernetes itself makes the pods and finds their nodes
_INTERFACES = ("SubnetIds", "SecurityGroupIds")
_ENDPOINTS = ("EndpointPublicAccess", "EndpointPrivateAccess", "PublicAccessCidrs")
_NO_IMAGES = "add-ons install nothing: there are no images"


class Cluster(Provider):
    """AWS::EKS::Cluster."""

    type = "AWS::EKS::Cluster"
    acts_on = (
        "AccessConfig",
        "DeletionProtection",
        "EncryptionConfig",
        "KubernetesNetworkConfig",
        "Logging",
        "Name",
        "ResourcesVpcConfig",
        "RoleArn",
        "Tags",
        "UpgradePolicy",
        "Version",
    )
    without_effect: ClassVar[Mapping[str, str]] = {"BootstrapSelfManagedAddons": _NO_IMAGES}

    def create(self, context: Context, properties: Json) -> str:
        """Create the cluster and return its name."""
        name = properties.get("Name") or context.unique_name(100)
        context.client("eks").create_cluster(**self._arguments(properties), name=name, **with_tags(context, properties))
        return str(name)

    def _arguments(self, properties: Json) -> Json:
        arguments = pick(
            properties, *(name for name in self.acts_on if name not in ("Name", "Tags", "Logging")), *self.without_effect
        )
        return arguments | _logging(properties)

    def _describe(self, context: Context, name: str) -> Json:
        found: Json = context.client("eks").describe_cluster(name=name)["cluster"]
        return found

    def settle(self, context: Context, physical_id: str, properties: Json) -> None:
        """Wait until the cluster is ACTIVE."""

        def look() -> bool | None:
            found = self._describe(context, physical_id)
            if found["status"] == "FAILED":
                raise ResourceError(_reason(found) or "the cluster is FAILED")
            return True if found["status"] == "ACTIVE" else None

        context.until(look, every_s=30)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN, endpoint, certificate authority and ids."""
        found = self._describe(context, physical_id)
        authority = found.get("certificateAuthority", {}).get("data", "")
        keys = [item["provider"]["keyArn"] for item in found.get("encryptionConfig") or ()]
        return {
            "Arn": found["arn"],
            "Id": physical_id,
            "Endpoint": found.get("endpoint", ""),
            "CertificateAuthorityData": authority,
            "CertificateAuthority.Data": authority,
            "ClusterSecurityGroupId": found["resourcesVpcConfig"]["clusterSecurityGroupId"],
            "EncryptionConfigKeyArn": keys[0] if keys else "",
            "OpenIdConnectIssuerUrl": found["identity"]["oidc"]["issuer"],
        }

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change version, settings and tags, one update after the other."""
        eks = context.client("eks")
        if changed(properties, before, "Version"):
            eks.update_cluster_version(name=physical_id, version=properties["Version"])
            self.settle(context, physical_id, properties)
        for change in _changes(properties, before):
            eks.update_cluster_config(name=physical_id, **change)
            self.settle(context, physical_id, properties)
        retag(context, self._describe(context, physical_id)["arn"], properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the cluster, once it is no longer CREATING, and wait until it is gone."""
        delete = partial(context.client("eks").delete_cluster, name=physical_id)
        _delete(context, partial(self._describe, context, physical_id), delete, every_s=30)


def _delete(context: Context, describe: Callable[[], Json], delete: Callable[[], Any], every_s: float) -> None:
    """Delete what does not change, and wait until it is gone."""

    def look() -> bool | None:
        if describe()["status"] in ("CREATING", "UPDATING"):
            return None
        delete()
        return True

    with tolerate(GONE):
        context.until(look, every_s=every_s)
        context.until(lambda: None if describe() else True, every_s=every_s)


def _logging(properties: Json) -> Json:
    """Return the enabled types of logs; CloudFormation lists each as an object."""
    if "Logging" not in properties:
        return {}
    listed = ((properties["Logging"].get("ClusterLogging") or {}).get("EnabledTypes")) or []
    types = [item["Type"] for item in listed]
    return {"logging": {"clusterLogging": [{"types": types, "enabled": True}] if types else []}}


def _changes(properties: Json, before: Json) -> list[Json]:
    """Return the updates of settings that AWS takes one at a time."""
    found = [pick(properties, name) for name in ("AccessConfig", "UpgradePolicy") if changed(properties, before, name)]
    is_protected, was_protected = (bool(each.get("DeletionProtection")) for each in (properties, before))
    if is_protected != was_protected:
        found.append({"deletionProtection": is_protected})
    if changed(properties, before, "Logging"):
        found.append(_logging_change(properties, before))
    new, old = properties["ResourcesVpcConfig"], before["ResourcesVpcConfig"]
    network = [names for names in (_INTERFACES, _ENDPOINTS) if changed(new, old, *names)]
    found += [{"resourcesVpcConfig": pick(new, *names)} for names in network]
    for item in found:
        item.get("accessConfig", {}).pop("bootstrapClusterCreatorAdminPermissions", None)
    return [item for item in found if item and {} not in item.values()]  # a removed property keeps its value


def _logging_change(properties: Json, before: Json) -> Json:
    new, old = (
        {name for item in _logging(each).get("logging", {}).get("clusterLogging", ()) for name in item["types"]}
        for each in (properties, before)
    )
    parts = [{"types": sorted(new), "enabled": True}, {"types": sorted(old - new), "enabled": False}]
    return {"logging": {"clusterLogging": [part for part in parts if part["types"]]}}


def _reason(found: Json) -> str:
    return "; ".join(f"{issue['code']}: {issue['message']}" for issue in found.get("health", {}).get("issues") or ())


class Addon(Provider):
    """AWS::EKS::Addon."""

    type = "AWS::EKS::Addon"
    CAN_CHANGE = ("AddonVersion", "ConfigurationValues", "PodIdentityAssociations", "ServiceAccountRoleArn")
    acts_on = ("AddonName", "ClusterName", "NamespaceConfig", "Tags", *CAN_CHANGE)
    without_effect: ClassVar[Mapping[str, str]] = dict.fromkeys(("PreserveOnDelete", "ResolveConflicts"), _NO_IMAGES)

    def create(self, context: Context, properties: Json) -> str:
        """Create the add-on and return its cluster and name."""
        names = [name for name in self.acts_on if name != "Tags"]
        context.client("eks").create_addon(**pick(properties, *names, "ResolveConflicts"), **with_tags(context, properties))
        return f"{properties['ClusterName']}|{properties['AddonName']}"

    def _describe(self, context: Context, physical_id: str) -> Json:
        found: Json = context.client("eks").describe_addon(**_names(physical_id))["addon"]
        return found

    def settle(self, context: Context, physical_id: str, properties: Json) -> None:
        """Wait until the add-on is ACTIVE, or DEGRADED if that counts as complete."""
        last: Json = {}
        complete = ("ACTIVE", *(("DEGRADED",) if degraded_is_complete() else ()))

        def look() -> bool | None:
            last.update(self._describe(context, physical_id))
            if last["status"].endswith("_FAILED"):
                raise ResourceError(_reason(last) or f"the add-on is {last['status']}")
            return True if last["status"] in complete else None

        try:
            context.until(look, timeout_s=_ADDON_S, every_s=15, programs_s=SCHEDULER_S)
        except ResourceError as error:
            detail = f"{last.get('status')}: {_reason(last)}" if last.get("status") == "DEGRADED" else ""
            raise ResourceError(f"{error}; {detail}" if detail else str(error)) from error

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN."""
        return {"Arn": self._describe(context, physical_id)["addonArn"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the version, role, configuration and tags."""
        if changed(properties, before, *self.CAN_CHANGE):
            arguments = pick(properties, *self.CAN_CHANGE, "ResolveConflicts")
            context.client("eks").update_addon(**_names(physical_id), **arguments)
            self.settle(context, physical_id, properties)
        retag(context, self._describe(context, physical_id)["addonArn"], properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the add-on and wait until it is gone."""
        preserve = bool(properties.get("PreserveOnDelete", False))
        delete = partial(context.client("eks").delete_addon, **_names(physical_id), preserve=preserve)
        _delete(context, partial(self._describe, context, physical_id), delete, every_s=15)


def _names(physical_id: str) -> Json:
    cluster, addon = physical_id.split("|")
    return {"clusterName": cluster, "addonName": addon}


PROVIDERS = (Cluster(), Addon())
