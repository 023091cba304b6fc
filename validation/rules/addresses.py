"""Rules about how many addresses the nodes take."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network

from config.addresses import Taker, takers
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import rule

# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html: the first four of a subnet and its last.
KEPT_BY_AWS = 5
LARGEST_PREFIX, SMALLEST_PREFIX = 16, 28
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html: a range that a VPC can take whatever its first one is.
SHARED = IPv4Network("100.64.0.0/10")
# How many interfaces a file system has is not published, but that it can have several:
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html
OF_A_FILE_SYSTEM = 1

NEEDED = ("network.vpc_cidr", "network.node_cidr", "network.existing", "instance_groups", "overrides", "storage.lustre")

# What else takes an address: our endpoints are gateways, which have none, and the NAT gateway has one in the public subnet, where
# the smallest that EC2 makes has room for eleven.


@rule("addresses-for-all-nodes", *NEEDED)
def addresses_for_all_nodes(config: ClusterConfig) -> Iterator[Problem]:
    """A new network's `node_cidr` has an address for each network card of each node, and for the file system.

    With EKS, a node takes the addresses of its pods as well. A subnet never grows: a group that finds no address left fails to
    start, or to be scaled, and the way out is another network.
    """
    if _is_ours(config):
        yield from _too_many(config, [(taker, taker.least) for taker in takers(config)], "at least ")


@rule("addresses-for-the-largest-types", *NEEDED, level=Level.WARNING)
def addresses_for_the_largest_types(config: ClusterConfig) -> Iterator[Problem]:
    """A new network's `node_cidr` is large enough also if all nodes of a group with several types are of the largest.

    Which of its types a group gets depends on what is free that day; the subnet never grows.
    """
    if _is_ours(config) and not any(addresses_for_all_nodes(config)):
        message = "if each node is of the largest type that it can have, "
        yield from _too_many(config, [(taker, taker.most) for taker in takers(config)], message)


@rule("addresses-for-autoscaling", *NEEDED, level=Level.WARNING)
def addresses_for_autoscaling(config: ClusterConfig) -> Iterator[Problem]:
    """With `overrides.AutoScaling`, somebody has looked at whether `node_cidr` has room for all nodes that jobs can ask for.

    How many these are is not in the file (Karpenter's node pools say it), and a subnet never grows: a group that finds no address
    left is not scaled, and the way out is another network.
    """
    scaling = config.overrides.get("AutoScaling")
    if not isinstance(scaling, Mapping) or scaling.get("Mode") != "Enable" or not _is_ours(config):
        return
    found = list(takers(config))
    left = _usable(config.network.node_cidr) - sum(taker.nodes * taker.least for taker in found) - _file_system(config)
    if left >= 0:  # else addresses-for-all-nodes tells
        room = ", or ".join(f"{left // taker.most} of {taker.name}" for taker in found)
        message = (
            f"node_cidr {config.network.node_cidr} has room for so many more nodes: {room}; use a larger one, or silence this"
        )
        yield Problem(("overrides", "AutoScaling"), dict(scaling), message)


def _is_ours(config: ClusterConfig) -> bool:
    """Tell whether the nodes' subnet is one that we make, and of a size that there is (of others, size-of-ranges tells)."""
    theirs = config.overrides.get("VpcConfig", {})
    elsewhere = config.network.existing is not None or not isinstance(theirs, Mapping) or "Subnets" in theirs
    return not elsewhere and LARGEST_PREFIX <= config.network.node_cidr.prefixlen <= SMALLEST_PREFIX


def _too_many(config: ClusterConfig, counted: Sequence[tuple[Taker, int]], how: str) -> Iterator[Problem]:
    """What is wrong if nodes that take so many addresses each, and the file system, do not fit."""
    cidr, file_system = config.network.node_cidr, _file_system(config)
    needed, has = sum(taker.nodes * each for taker, each in counted) + file_system, _usable(cidr)
    if needed > has:
        groups = [_in_words(taker, each) for taker, each in counted if taker.nodes]
        listed = ", ".join([*groups, *["the file system 1 or more"][:file_system]])
        message = f"has {has} addresses, and {how}{needed} are needed ({listed}); {_remedy(config, needed)}"
        yield Problem(("network", "node_cidr"), str(cidr), message)


def _file_system(config: ClusterConfig) -> int:
    return OF_A_FILE_SYSTEM if config.storage.lustre else 0


def _usable(cidr: IPv4Network) -> int:
    return cidr.num_addresses - KEPT_BY_AWS


def _in_words(taker: Taker, each: int) -> str:
    return f"{taker.name} {taker.nodes * each}" + (f" = {taker.nodes} x {each}" if taker.nodes > 1 < each else "")


def _remedy(config: ClusterConfig, needed: int) -> str:
    """The smallest range that fits, of which the present one is a part unless the VPC's first one is in its way."""
    prefix = 32 - (needed + KEPT_BY_AWS - 1).bit_length()
    if prefix < LARGEST_PREFIX:
        return "no subnet is as large; lower instance_count, or give groups subnets of their own in `overrides.OverrideVpcConfig`"
    vpc, around = config.network.vpc_cidr, config.network.node_cidr.supernet(new_prefix=prefix)
    fitting = (
        around if not around.overlaps(vpc) else next(each for each in SHARED.subnets(new_prefix=prefix) if not each.overlaps(vpc))
    )
    return f"use a range of /{prefix} or larger, e.g. {fitting}"
