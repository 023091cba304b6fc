"""Count the IP addresses that the nodes need in a subnet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from config.instance_group import InstanceGroup
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig


class Orchestrator(StrEnum):
    """The scheduler of a cluster; with EKS, pods need addresses too."""

    SLURM = "slurm"
    EKS = "eks"


@dataclass(frozen=True)
class AddressDemand:
    """The nodes of a group, with the addresses of one node for the group's smallest and largest type."""

    name: str
    nodes: int
    least: int
    most: int


def orchestrator_of(config: ClusterConfig) -> Orchestrator:
    """Return the cluster's orchestrator: Slurm, unless `overrides` request EKS."""
    given = config.overrides.get("Orchestrator")
    return Orchestrator.EKS if isinstance(given, Mapping) and given.get("Eks") else Orchestrator.SLURM


def addresses_of_node(instance_type_name: str, orchestrator: Orchestrator, *, efa_only: bool = False) -> int | None:
    """Return the addresses that a node of this type needs, or None for an unknown type.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html: with Slurm, one for each network
    card (32 on a P5); with EKS, all of the first interface for pods, and one for each other card (81 on a P5).
    With ``efa_only``, only the first interface has an address:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    """
    known = instance_type(instance_type_name)
    if known is None:
        return None
    first = known.addresses_per_interface if orchestrator is Orchestrator.EKS else 1
    return first if efa_only else first + known.network_cards - 1


def address_demands(config: ClusterConfig) -> Iterator[AddressDemand]:
    """Yield the groups in the cluster's subnets; an unknown type counts as one address per node."""
    orchestrator = orchestrator_of(config)
    for group in config.instance_groups:
        if group.overrides.get("OverrideVpcConfig") is None:
            counted = [each or 1 for each in _of_types(group, orchestrator)] or [1]
            yield AddressDemand(group.name, group.instance_count, min(counted), max(counted))
    restricted = config.overrides.get("RestrictedInstanceGroups")
    for each in restricted if isinstance(restricted, list) else []:
        if isinstance(each, Mapping) and each.get("OverrideVpcConfig") is None:
            yield _restricted(each, orchestrator)


def _of_types(group: InstanceGroup, orchestrator: Orchestrator) -> list[int | None]:
    interface = group.overrides.get("NetworkInterface")
    efa_only = isinstance(interface, Mapping) and interface.get("InterfaceType") == "efa-only"
    return [addresses_of_node(name, orchestrator, efa_only=efa_only) for name in sorted(types_of_group(group))]


def _restricted(group: Mapping[str, object], orchestrator: Orchestrator) -> AddressDemand:
    """Return the demand of a restricted group; the request check reports its problems."""
    count, name = group.get("InstanceCount"), group.get("InstanceType")
    each = (addresses_of_node(name, orchestrator) if isinstance(name, str) else None) or 1
    return AddressDemand(str(group.get("InstanceGroupName", "")), count if isinstance(count, int) else 0, each, each)
