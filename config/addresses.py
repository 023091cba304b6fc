"""How many addresses of a subnet the nodes take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from config.instance_group import InstanceGroup
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig


class Orchestrator(StrEnum):
    """What runs the jobs; a node takes more addresses where its containers have some of their own."""

    SLURM = "slurm"
    EKS = "eks"


@dataclass(frozen=True)
class Taker:
    """A group of nodes, and how many addresses one of them takes if it is of the smallest of its types, and of the largest."""

    name: str
    nodes: int
    least: int
    most: int


def orchestrator_of(config: ClusterConfig) -> Orchestrator:
    """What runs the cluster's jobs: Slurm, unless the file asks the API for something else."""
    asked = config.overrides.get("Orchestrator")
    return Orchestrator.EKS if isinstance(asked, Mapping) and asked.get("Eks") else Orchestrator.SLURM


def addresses_of_node(instance_type_name: str, orchestrator: Orchestrator, *, efa_only: bool = False) -> int | None:
    """The addresses that a node of this type takes; None where the figures of the type are not known.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html: with Slurm, one on each network card
    (32 on a P5); with EKS, all that the first card's interface can have, for pods, and one on each other card (81 on a P5).
    ``efa_only`` is the `NetworkInterface` of a group whose further interfaces have no address:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    """
    known = instance_type(instance_type_name)
    if known is None:
        return None
    first = known.addresses_per_interface if orchestrator is Orchestrator.EKS else 1
    return first if efa_only else first + known.network_cards - 1


def takers(config: ClusterConfig) -> Iterator[Taker]:
    """The groups whose nodes are in the cluster's own subnets; of a type without figures, one address a node is certain."""
    orchestrator = orchestrator_of(config)
    for group in config.instance_groups:
        if group.overrides.get("OverrideVpcConfig") is None:
            counted = [each or 1 for each in _of_types(group, orchestrator)] or [1]
            yield Taker(group.name, group.instance_count, min(counted), max(counted))
    restricted = config.overrides.get("RestrictedInstanceGroups")
    for each in restricted if isinstance(restricted, list) else []:
        if isinstance(each, Mapping) and each.get("OverrideVpcConfig") is None:
            yield _restricted(each, orchestrator)


def _of_types(group: InstanceGroup, orchestrator: Orchestrator) -> list[int | None]:
    interface = group.overrides.get("NetworkInterface")
    efa_only = isinstance(interface, Mapping) and interface.get("InterfaceType") == "efa-only"
    return [addresses_of_node(name, orchestrator, efa_only=efa_only) for name in sorted(types_of_group(group))]


def _restricted(group: Mapping[str, object], orchestrator: Orchestrator) -> Taker:
    """A group that only `overrides` have: what is wrong with it, the request's own check tells."""
    count, name = group.get("InstanceCount"), group.get("InstanceType")
    each = (addresses_of_node(name, orchestrator) if isinstance(name, str) else None) or 1
    return Taker(str(group.get("InstanceGroupName", "")), count if isinstance(count, int) else 0, each, each)
