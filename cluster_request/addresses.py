"""Count the IP addresses that the nodes need in a subnet."""

from collections.abc import Iterator
from dataclasses import dataclass

from cluster_request.effective_request import EffectiveRequest, Member
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
    for group in request.groups:
        if not group.member("OverrideVpcConfig").is_given:
            efa_only = group.member("NetworkInterface", "InterfaceType").text == "efa-only"
            known = (addresses_of_node(name, request.orchestrator, efa_only=efa_only) for name in group.type_names())
            counts = [count or 1 for count in known] or [1]
            yield AddressDemand(group.name, group.group.instance_count, min(counts), max(counts))
    for each in request.entries("RestrictedInstanceGroups"):
        if not each.member("OverrideVpcConfig").is_given:
            yield _restricted(each, request.orchestrator)


def _restricted(group: Member, orchestrator: Orchestrator) -> AddressDemand:
    """Return the demand of a restricted group; the request check reports its problems."""
    each = addresses_of_node(group.member("InstanceType").text, orchestrator) or 1
    return AddressDemand(group.member("InstanceGroupName").text, group.member("InstanceCount").number or 0, each, each)
