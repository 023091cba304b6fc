"""Rules about zones and address ranges."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.network import InternetAccess
from config.suggestions import nearest
from config.zones import could_be_a_region, is_known_zone, region_of_zone, regions, zone_remedy, zones_of
from validation.rules.registry import rule

# https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)

# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html: what a VPC's second range must not touch.
PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
NEVER_SECOND = tuple(map(IPv4Network, ("198.19.0.0/16", "169.254.0.0/16")))
FIRST_OF_TEN, FIRST_TWO_OF_TEN = IPv4Network("10.0.0.0/16"), IPv4Network("10.0.0.0/15")
DOCKER = IPv4Network("172.17.0.0/16")


@rule("form-of-regions", "region")
def form_of_regions(config: ClusterConfig) -> Iterator[Problem]:
    """The region's name ends in a direction and a number, as those of all regions do.

    A misspelled region is found only once the first call is made there, and then as a host that does not answer.
    """
    if config.region is not None and not could_be_a_region(config.region):
        yield Problem(("region",), config.region, f"is no region that SageMaker is in; {nearest(config.region, regions())}")


@rule("known-region", "region", level=Level.WARNING)
def known_region(config: ClusterConfig) -> Iterator[Problem]:
    """The region is among those that SageMaker is known to be in.

    A misspelled region is found only once the first call is made there, and then as a host that does not answer. In a region that
    is newer than this release all works, but its zones are not checked.
    """
    region = config.region
    if region is not None and region not in regions() and could_be_a_region(region):
        message = f"this release knows no such region; if it is a new one, silence this; {nearest(region, regions())}"
        yield Problem(("region",), region, message)


ZONE: Path = ("network", "availability_zone_id")


@rule("zone-of-the-region", "network.availability_zone_id", "region")
def zone_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """The availability zone is not one of another region.

    Subnet, file system and nodes are all in it, so that nothing at all can be made in a zone that is not there.
    """
    zone, region = config.network.availability_zone_id, config.region
    home = region_of_zone(zone)
    if home is not None and region in regions() and region != home:  # of another region, known-region tells
        yield Problem(ZONE, zone, f"is a zone of {home}, not of {region}; {zone_remedy(zone, region)}")


@rule("known-zone", "network.availability_zone_id", "region", level=Level.WARNING)
def known_zone(config: ClusterConfig) -> Iterator[Problem]:
    """The availability zone's id is among those that are known.

    In a zone that is not there, nothing at all can be made. But an account can have zones that others have not, and Local Zones,
    of which few offer all that a cluster needs.
    """
    zone, region = config.network.availability_zone_id, config.region
    is_told = region_of_zone(zone) not in (None, region) and region is not None
    are_zones_known = region is None or zones_of(region)
    if not is_known_zone(zone) and are_zones_known and not is_told:
        shown = f"`aws ec2 describe-availability-zones{f' --region {region}' if region else ''}`"
        message = f"this release knows no such zone; if {shown} lists it, silence this; {zone_remedy(zone, region)}"
        yield Problem(ZONE, zone, message)


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
    """The public subnet's range lies inside the new VPC's.

    EC2 refuses a subnet outside of its VPC, and the deployment rolls back.
    """
    if config.network.existing is None:
        yield from _public_subnet_outside(config)


@rule(
    "public-subnet-in-existing-vpc",
    *("network.vpc_cidr", "network.public_subnet_cidr", "network.existing"),
    level=Level.WARNING,
)
def public_subnet_in_existing_vpc(config: ClusterConfig) -> Iterator[Problem]:
    """The public subnet that is made in an existing VPC lies inside `vpc_cidr`.

    EC2 refuses a subnet outside of its VPC, and the deployment rolls back: unless the VPC has another range, which the file does
    not say.
    """
    existing = config.network.existing
    if existing and existing.internet_access is InternetAccess.CREATE:
        yield from _public_subnet_outside(config)


def _public_subnet_outside(config: ClusterConfig) -> Iterator[Problem]:
    network = config.network
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


@rule("ranges-apart-from-docker", "network.vpc_cidr", "network.node_cidr", "network.existing", level=Level.WARNING)
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
