"""Read the desired quotas and scheduler config from the properties, and identify them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cluster_resource.errors import PropertyError
from cluster_resource.event import Json, is_reserved
from cluster_resource.property_values import typed

CLUSTER_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:[0-9]{12}:cluster/[a-z0-9]{12}")
QUOTA_MEMBERS = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description")
QUOTA_REQUIRED = ("Name", "ComputeQuotaConfig", "ComputeQuotaTarget")
SCHEDULER_MEMBERS = ("SchedulerConfig", "Description")
SCHEDULER_REQUIRED = ("Name", "SchedulerConfig")
NO_TEAM = ""
"""The team of the scheduler config, of which a cluster has one."""


class Item(NamedTuple):
    """A desired quota or scheduler config; ``settings`` are the members that an update can change."""

    name: str
    settings: Json

    @property
    def team(self) -> str:
        """Return the team, which identifies a quota in its cluster."""
        target = self.settings.get("ComputeQuotaTarget") or {}
        return str(target.get("TeamName", NO_TEAM))


class Desired(NamedTuple):
    """The desired quotas and scheduler config of a cluster, by team, and their tags besides those of ownership."""

    cluster_arn: str
    quotas: dict[str, Item]
    scheduler: dict[str, Item]
    tags: dict[str, str]

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "Desired":
        """Return what the properties say: each quota has a property whose name starts with `Quota`."""
        quotas: dict[str, Item] = {}
        for field, value in _quotas(properties):
            quota = _parsed(field, value, QUOTA_MEMBERS, QUOTA_REQUIRED)
            if quota.team in quotas:
                raise PropertyError(f"{field}: team {quota.team!r} has two quotas; remove one")
            quotas[quota.team] = quota
        value = properties.get("SchedulerConfig")
        scheduler = {} if value is None else {NO_TEAM: _parsed("SchedulerConfig", value, SCHEDULER_MEMBERS, SCHEDULER_REQUIRED)}
        return cls(cluster_arn_of(properties), quotas, scheduler, _tags(properties.get("Tags")))

    @classmethod
    def before(cls, properties: Mapping[str, Any] | None) -> "Desired":
        """Return the previous ones; none if they are invalid, because their request failed."""
        try:
            return cls.of(properties or {})
        except PropertyError:
            return cls("", {}, {}, {})


def cluster_arn_of(properties: Mapping[str, Any]) -> str:
    """Return the cluster in the properties."""
    arn = str(properties.get("ClusterArn") or "")
    if not CLUSTER_ARN.fullmatch(arn):
        raise PropertyError(f"ClusterArn: {arn!r} is not the ARN of a HyperPod cluster; pass the cluster's ARN")
    return arn


def physical_id_of(properties: Mapping[str, Any]) -> str:
    """Return the physical ID: quotas of another cluster are another resource."""
    return f"compute-quotas/{cluster_arn_of(properties).rpartition('/')[2]}"


def _quotas(properties: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield name and value of each quota; `Quotas` has those of an older deployment."""
    texts = properties.get("Quotas") or []
    if not isinstance(texts, list):
        raise PropertyError("Quotas: not a list; pass a property for each quota")
    yield from ((f"Quotas[{index}]", text) for index, text in enumerate(texts))
    yield from ((name, value) for name, value in properties.items() if name.startswith("Quota") and name != "Quotas")


def _parsed(field: str, value: object, members: tuple[str, ...], required: tuple[str, ...]) -> Item:
    """Return the item in a property."""
    item = typed(value)
    if not isinstance(item, dict):
        raise PropertyError(f"{field}: not an object; pass an object, or its JSON text")
    missing = [name for name in required if not item.get(name)]
    target = item.get("ComputeQuotaTarget")
    if "ComputeQuotaTarget" in members and not missing and not (isinstance(target, dict) and target.get("TeamName")):
        missing = ["ComputeQuotaTarget.TeamName"]
    if missing:
        raise PropertyError(f"{field}: lacks {', '.join(missing)}; add it")
    unknown = sorted(set(item) - {"Name", *members})
    if unknown:
        raise PropertyError(f"{field}: unknown members {', '.join(unknown)}; remove them")
    return Item(str(item["Name"]), {name: item[name] for name in members if name in item})


def _tags(value: object) -> dict[str, str]:
    """Return the user's tags."""
    if value is None:
        return {}
    if not isinstance(value, list) or not all(isinstance(tag, dict) and "Key" in tag and "Value" in tag for tag in value):
        raise PropertyError("Tags: not a list of Key and Value; correct it")
    tags = {str(tag["Key"]): str(tag["Value"]) for tag in value}
    reserved = sorted(key for key in tags if is_reserved(key))
    if reserved:
        raise PropertyError(f"Tags: {', '.join(reserved)} is reserved; remove it")
    return tags
