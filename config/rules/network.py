"""Rules about zones and address ranges."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from config.errors import Problem
from config.model import ClusterConfig
from config.nearest import nearest
from config.network import InternetAccess
from config.rules.registry import rule
from config.zones import region_of_zone, regions, zone_remedy, zones_of

# https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)

# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html: what a VPC's second range must not touch.
PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
NEVER_SECOND = tuple(map(IPv4Network, ("198.19.0.0/16", "169.254.0.0/16")))
FIRST_OF_TEN, FIRST_TWO_OF_TEN = IPv4Network("10.0.0.0/16"), IPv4Network("10.0.0.0/15")
DOCKER = IPv4Network("172.17.0.0/16")


@rule("known-region", "region")
def known_region(config: ClusterConfig) -> Iterator[Problem]:
    """The region is one that SageMaker is in.

    A misspelled region is found only once the first call is made there, and then as a host that does not answer.
    """
    if config.region is not None and config.region not in regions():
        yield Problem(("region",), config.region, f"is no region that SageMaker is in; {nearest(config.region, regions())}")


@rule("known-zone", "network.availability_zone_id", "region")
def known_zone(config: ClusterConfig) -> Iterator[Problem]:
    """The availability zone's id is known, and belongs to the region where the file names one.

    Subnet, file system and nodes are all in it, so that nothing at all can be made in a zone that is not there.
    """
    zone, region = config.network.availability_zone_id, config.region
    home = region_of_zone(zone)
    path = ("network", "availability_zone_id")
    if (home is not None and region in (None, home)) or (region is not None and region not in regions()):
        return  # of an unknown region, known-region tells
    if home is not None:
        yield Problem(path, zone, f"is a zone of {home}, not of {region}; {zone_remedy(zone, region)}")
    elif region is None or zones_of(region):
        yield Problem(path, zone, f"is no known availability zone id; {zone_remedy(zone, region)}")


@rule("size-of-ranges", "network.vpc_cidr", "network.public_subnet_cidr", "network.node_cidr")
def size_of_ranges(config: ClusterConfig) -> Iterator[Problem]:
    """Address ranges have prefixes from /16 to /28.

    EC2 refuses other sizes, and the deployment rolls back.
    """
    for name in ("vpc_cidr", "public_subnet_cidr", "node_cidr"):
        cidr: IPv4Network = getattr(config.network, name)
        if not 16 <= cidr.prefixlen <= 28:
            nearest_size = f"{cidr.network_address}/{16 if cidr.prefixlen < 16 else 28}"
            yield Problem(("network", name), str(cidr), f"a VPC takes ranges from /16 to /28; use e.g. {nearest_size}")


@rule("public-subnet-in-vpc", "network.vpc_cidr", "network.public_subnet_cidr", "network.existing")
def public_subnet_in_vpc(config: ClusterConfig) -> Iterator[Problem]:
    """The public subnet's range lies inside the VPC's.

    EC2 refuses a subnet outside of its VPC, and the deployment rolls back.
    """
    network = config.network
    if network.existing and network.existing.internet_access is InternetAccess.EXISTING:
        return  # no public subnet is made
    if not network.public_subnet_cidr.subnet_of(network.vpc_cidr):
        example = next(network.vpc_cidr.subnets(new_prefix=max(24, network.vpc_cidr.prefixlen)))
        message = f"must lie inside vpc_cidr {network.vpc_cidr}; use e.g. {example}"
        yield Problem(("network", "public_subnet_cidr"), str(network.public_subnet_cidr), message)


@rule("node-range-beside-vpc", "network.vpc_cidr", "network.node_cidr", "network.existing")
def node_range_beside_vpc(config: ClusterConfig) -> Iterator[Problem]:
    """The nodes' range is one that can be added to the VPC: it does not overlap its first one, and is of the same kind.

    EC2 refuses such a range, and the deployment rolls back.
    """
    vpc, nodes = config.network.vpc_cidr, config.network.node_cidr
    if config.network.existing is None and (reason := _cannot_join(vpc, nodes)):
        message = f"{reason}; use another range of {_family(vpc)}, or one of 100.64.0.0/10"
        yield Problem(("network", "node_cidr"), str(nodes), message)


@rule("ranges-apart-from-docker", "network.vpc_cidr", "network.node_cidr", "network.existing")
def ranges_apart_from_docker(config: ClusterConfig) -> Iterator[Problem]:
    """No range of a new network overlaps 172.17.0.0/16, where Docker puts its containers.

    Each node would send what is meant for others in that range to its own containers: nodes that run, and do not reach each
    other.
    """
    if config.network.existing is not None:
        return
    for name in ("vpc_cidr", "node_cidr"):
        cidr: IPv4Network = getattr(config.network, name)
        if cidr.overlaps(DOCKER):
            message = f"Docker on the nodes uses {DOCKER} itself; use another range, e.g. 172.20.0.0/16"
            yield Problem(("network", name), str(cidr), message)


@rule("retention-of-flow-logs", "network.flow_logs_retention_days")
def retention_of_flow_logs(config: ClusterConfig) -> Iterator[Problem]:
    """Flow logs are kept for a period that CloudWatch Logs offers.

    CloudWatch Logs refuses other periods, and the deployment rolls back.
    """
    days = config.network.flow_logs_retention_days
    if days not in RETENTION_DAYS:
        longer = next((each for each in RETENTION_DAYS if each > days), RETENTION_DAYS[-1])
        message = f"CloudWatch Logs keeps logs for {', '.join(map(str, RETENTION_DAYS))} days; use {longer}"
        yield Problem(("network", "flow_logs_retention_days"), days, message)


def _cannot_join(vpc: IPv4Network, nodes: IPv4Network) -> str | None:
    """Why a VPC with the first range ``vpc`` cannot have ``nodes`` as well."""
    if vpc.overlaps(nodes):
        return f"overlaps vpc_cidr {vpc}"
    if any(nodes.overlaps(never) for never in NEVER_SECOND):
        return "AWS keeps it for itself"
    family = next((private for private in PRIVATE if nodes.overlaps(private)), None)
    if family is not None and not vpc.subnet_of(family):
        return f"AWS adds no range of {family} to a VPC that begins with {vpc}"
    if vpc.overlaps(FIRST_TWO_OF_TEN) and nodes.overlaps(FIRST_OF_TEN):
        return f"AWS adds no range of {FIRST_OF_TEN} to a VPC that begins with {vpc}"
    return None


def _family(vpc: IPv4Network) -> str:
    family = next((private for private in PRIVATE if vpc.overlaps(private)), None)
    return str(family) if family else "the public ones"
