"""Rules about how many addresses the nodes take."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from config.errors import Problem
from config.instance_group import InstanceGroup
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig
from config.rules.registry import rule

# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html: the first four of a subnet and its last.
KEPT_BY_AWS = 5
LARGEST_PREFIX, SMALLEST_PREFIX = 16, 28


@rule("addresses-for-all-nodes", "network", "instance_groups", "overrides", "storage")
def addresses_for_all_nodes(config: ClusterConfig) -> Iterator[Problem]:
    """A new network's `node_cidr` has an address for each node and each EFA interface of its type; the file system takes more.

    A subnet never grows: a group that finds no address left fails to start, or to be scaled, and the way out is another
    network.
    """
    network = config.network
    if network.existing is not None or "VpcConfig" in config.overrides:
        return  # how large those subnets are is not in the file
    if not LARGEST_PREFIX <= network.node_cidr.prefixlen <= SMALLEST_PREFIX:
        return  # size-of-ranges tells
    takers = {group.name: _addresses(group) for group in config.instance_groups if "OverrideVpcConfig" not in group.overrides}
    file_system = 1 if config.storage.lustre else 0
    needed, has = sum(takers.values()) + file_system, network.node_cidr.num_addresses - KEPT_BY_AWS
    if needed > has:
        listed = ", ".join([*(f"{name} {count}" for name, count in takers.items()), *["the file system 1 or more"][:file_system]])
        message = f"has {has} addresses, and at least {needed} are needed ({listed}); {_remedy(network.node_cidr, needed)}"
        yield Problem(("network", "node_cidr"), str(network.node_cidr), message)


def _addresses(group: InstanceGroup) -> int:
    """The least that the group's nodes take: with EFA, an address on each interface.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html: 32 on a P5, which has 32 interfaces. Of
    types that the table does not know, one is certain.
    """
    known = [instance_type(name) for name in types_of_group(group)]
    return group.instance_count * min(max(1, each.efa_interfaces) if each else 1 for each in known)


def _remedy(cidr: IPv4Network, needed: int) -> str:
    prefix = 32 - (needed + KEPT_BY_AWS - 1).bit_length()
    if prefix < LARGEST_PREFIX:
        return "no subnet is as large; lower instance_count, or give groups subnets of their own in `overrides.OverrideVpcConfig`"
    return f"use a range of /{prefix} or larger, e.g. {cidr.supernet(new_prefix=prefix)}"
