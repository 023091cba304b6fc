"""Count the IP addresses that the nodes need in a subnet."""

from collections.abc import Iterator
from dataclasses import dataclass

from cluster_request.effective_request import EffectiveRequest
from config.instance_types import instance_type
from config.model import Orchestrator


@dataclass(frozen=True)
class AddressDemand:
    """The nodes of a group, with the addresses of one node for the group's smallest and largest type."""

    name: str
    nodes: int
    least: int
    most: int


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


def address_demands(request: EffectiveRequest) -> Iterator[AddressDemand]:
    """Yield the groups in the cluster's subnets; an unknown type counts as one address per node."""
    for group in request.all_groups:
        if not group.member("OverrideVpcConfig").is_given:
            known = (addresses_of_node(name, request.orchestrator, efa_only=group.is_efa_only) for name in group.types)
            counts = [count or 1 for count in known] or [1]
            yield AddressDemand(group.name, group.count, min(counts), max(counts))
