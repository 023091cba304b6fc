"""The desired groups and networks of the file, as checks need them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cli.group_members import groups_of, types_of
from cluster_request.request import RequestValues, cluster_request
from config.instance_types import instance_type
from config.model import ClusterConfig


@dataclass(frozen=True)
class Group:
    """An instance group of the CreateCluster request."""

    name: str
    types: tuple[str, ...]
    count: int
    is_spot: bool
    training_plan: str | None
    network: dict[str, list[str]]
    """Subnets and SecurityGroupIds of `OverrideVpcConfig`; empty without."""
    volumes: tuple[dict[str, Any], ...]
    image: str
    """`ImageId`; empty without."""
    interface: str
    """`NetworkInterface.InterfaceType`; empty without."""


def groups(config: ClusterConfig) -> tuple[Group, ...]:
    """Return the groups of the file, with `overrides`."""
    request = cluster_request(config, values=RequestValues.samples(config))
    return tuple(map(_group, groups_of(request)))


def node_subnets(config: ClusterConfig) -> tuple[str, ...]:
    """Return the subnets of all nodes in the file; empty if the deployment creates theirs."""
    return _named(config, "Subnets", config.network.existing.node_subnet_ids if config.network.existing else ())


def node_security_groups(config: ClusterConfig) -> tuple[str, ...]:
    """Return the security groups of all nodes in the file; empty if the deployment creates theirs."""
    return _named(config, "SecurityGroupIds", (config.network.existing.security_group_id,) if config.network.existing else ())


def _named(config: ClusterConfig, member: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    overridden = (config.overrides.get("VpcConfig") or {}).get(member)
    return tuple(overridden) if overridden else otherwise


def _group(group: dict[str, Any]) -> Group:
    configs = group.get("InstanceStorageConfigs") or []
    return Group(
        name=group["InstanceGroupName"],
        types=types_of(group),
        count=int(group["InstanceCount"]),
        is_spot="Spot" in (group.get("CapacityRequirements") or {}),
        training_plan=group.get("TrainingPlanArn"),
        network=group.get("OverrideVpcConfig") or {},
        volumes=tuple(each["EbsVolumeConfig"] for each in configs if "EbsVolumeConfig" in each),
        image=group.get("ImageId") or "",
        interface=(group.get("NetworkInterface") or {}).get("InterfaceType") or "",
    )


def has_efa(some: Iterable[Group]) -> bool:
    """Return whether a type of one of the groups is known to have EFA."""
    return any(known.efa_interfaces for group in some for name in group.types if (known := instance_type(name)))
