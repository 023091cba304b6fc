"""Check that the subnets have enough IP addresses for the nodes."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from cluster_request.addresses import AddressDemand, address_demands
from cluster_request.effective_request import EffectiveRequest
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import request_rule

# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html: the first four of a subnet and its last.
RESERVED_BY_AWS = 5
LARGEST_PREFIX, SMALLEST_PREFIX = 16, 28
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html: every VPC can add a range of this block.
SHARED = IPv4Network("100.64.0.0/10")
# The number of network interfaces of a file system is not published; it can have several:
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html
FILE_SYSTEM_ADDRESSES = 1

NEEDED = ("network.vpc_cidr", "network.node_cidr", "network.existing", "instance_groups", "overrides", "storage.lustre")

# Nothing else takes an address: gateway endpoints have none, and the NAT gateway's is in the public subnet.


@request_rule("subnet-capacity", *NEEDED)
def subnet_capacity(request: EffectiveRequest) -> Iterator[Problem]:
    """The new `node_cidr` must have an IP address for each network card of each node, and for the file system.

    With EKS, each pod takes an address too. A subnet cannot grow: without free addresses a group fails to start or to scale, and
    the network must be replaced.
    """
    if _is_created(request):
        counted = [(demand, demand.least) for demand in address_demands(request)]
        yield from _capacity_problem(request.config, counted, "at least ")


@request_rule("subnet-capacity-largest-types", *NEEDED, level=Level.WARNING)
def subnet_capacity_largest_types(request: EffectiveRequest) -> Iterator[Problem]:
    """The new `node_cidr` must also be large enough if every node of a mixed group is of the group's largest type.

    Available capacity decides which type a node gets, and a subnet cannot grow.
    """
    if _is_created(request) and not any(subnet_capacity(request)):
        counted = [(demand, demand.most) for demand in address_demands(request)]
        yield from _capacity_problem(request.config, counted, "with the largest type of each group, ")


@request_rule("subnet-capacity-autoscaling", *NEEDED, level=Level.WARNING)
def subnet_capacity_autoscaling(request: EffectiveRequest) -> Iterator[Problem]:
    """With autoscaling, `node_cidr` must have room for all nodes that jobs can request.

    The file does not contain the maximum (Karpenter's node pools set it). A subnet cannot grow: without free addresses a group
    cannot scale, and the network must be replaced.
    """
    config, scaling = request.config, request.member("AutoScaling")
    if scaling.member("Mode").text != "Enable" or not _is_created(request):
        return
    found = list(address_demands(request))
    left = _usable(config.network.node_cidr) - sum(demand.nodes * demand.least for demand in found) - _file_system(config)
    if left >= 0 and found:  # otherwise subnet-capacity reports it
        room = ", or ".join(f"{left // demand.most} of {demand.name}" for demand in found)
        message = f"additional nodes that fit in node_cidr {config.network.node_cidr}: {room}"
        field = config.eks.autoscaling if config.eks and not scaling.is_overridden else None
        yield scaling.problem(message, "use a larger range, or suppress this warning", field.value if field else scaling.value)


def _is_created(request: EffectiveRequest) -> bool:
    """Return whether the stack creates the node subnet, with a valid size (otherwise cidr-size reports it)."""
    network = request.config.network
    is_elsewhere = network.existing is not None or request.member("VpcConfig", "Subnets").is_overridden
    return not is_elsewhere and LARGEST_PREFIX <= network.node_cidr.prefixlen <= SMALLEST_PREFIX


def _capacity_problem(config: ClusterConfig, counted: Sequence[tuple[AddressDemand, int]], how: str) -> Iterator[Problem]:
    """Yield a problem if the nodes and the file system need more addresses than `node_cidr` has."""
    cidr, file_system = config.network.node_cidr, _file_system(config)
    needed, has = sum(demand.nodes * each for demand, each in counted) + file_system, _usable(cidr)
    if needed > has:
        groups = [_in_words(demand, each) for demand, each in counted if demand.nodes]
        listed = ", ".join([*groups, *["file system at least 1"][:file_system]])
        message = f"has {has} addresses, but {how}{needed} are required ({listed})"
        yield Problem(("network", "node_cidr"), str(cidr), message, _fix(config, needed))


def _file_system(config: ClusterConfig) -> int:
    return FILE_SYSTEM_ADDRESSES * len(config.storage.created_file_systems)


def _usable(cidr: IPv4Network) -> int:
    return cidr.num_addresses - RESERVED_BY_AWS


def _in_words(demand: AddressDemand, each: int) -> str:
    return f"{demand.name} {demand.nodes * each}" + (f" = {demand.nodes} x {each}" if demand.nodes > 1 < each else "")


def _fix(config: ClusterConfig, needed: int) -> str:
    """Suggest the smallest range that fits, which contains the current range unless it would overlap `vpc_cidr`."""
    prefix = 32 - (needed + RESERVED_BY_AWS - 1).bit_length()
    if prefix < LARGEST_PREFIX:
        return "no subnet can be that large; lower instance_count, or set several subnets in `network.existing`"
    vpc, around = config.network.vpc_cidr, config.network.node_cidr.supernet(new_prefix=prefix)
    fitting = (
        around if not around.overlaps(vpc) else next(each for each in SHARED.subnets(new_prefix=prefix) if not each.overlaps(vpc))
    )
    return f"use a range of /{prefix} or larger, e.g. {fitting}"
