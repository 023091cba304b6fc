"""Check region, availability zone and address ranges."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.network import InternetAccess
from config.suggestions import nearest
from config.zones import is_known_zone, is_plausible_region, region_of_zone, regions, zone_fix, zones_of
from validation.rules.registry import rule

# https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)

# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html: restrictions on secondary CIDR blocks.
PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
NEVER_SECONDARY = tuple(map(IPv4Network, ("198.19.0.0/16", "169.254.0.0/16")))
FIRST_10_RANGE, FIRST_TWO_10_RANGES = IPv4Network("10.0.0.0/16"), IPv4Network("10.0.0.0/15")
DOCKER = IPv4Network("172.17.0.0/16")


@rule("region-format", "region")
def region_format(config: ClusterConfig) -> Iterator[Problem]:
    """The region's name must end in a direction and a number.

    A misspelled region fails only at the first API call, as a host that does not answer.
    """
    if config.region is not None and not is_plausible_region(config.region):
        yield Problem(("region",), config.region, "unknown region", nearest(config.region, regions()))


@rule("known-region", "region", level=Level.WARNING)
def known_region(config: ClusterConfig) -> Iterator[Problem]:
    """The region must be one where SageMaker is known to be available.

    A misspelled region fails only at the first API call, as a host that does not answer. A region newer than this release works,
    but its availability zones are not checked.
    """
    region = config.region
    if region is not None and region not in regions() and is_plausible_region(region):
        fix = f"if it is new, suppress this warning; {nearest(region, regions())}"
        yield Problem(("region",), region, "unknown region", fix)


ZONE: Path = ("network", "availability_zone_id")


@rule("zone-region", "network.availability_zone_id", "region")
def zone_region(config: ClusterConfig) -> Iterator[Problem]:
    """The availability zone must be in the cluster's region.

    Subnet, file system and nodes are created in this zone.
    """
    zone, region = config.network.availability_zone_id, config.region
    home = region_of_zone(zone)
    if home is not None and region in regions() and region != home:  # known-region reports an unknown region
        yield Problem(ZONE, zone, f"is in {home}, not in {region}", zone_fix(zone, region))


@rule("known-zone", "network.availability_zone_id", "region", level=Level.WARNING)
def known_zone(config: ClusterConfig) -> Iterator[Problem]:
    """The availability zone's id must be known.

    Nothing can be created in a zone that does not exist. An account can have other zones and Local Zones, but few Local Zones
    offer everything that a cluster requires.
    """
    zone, region = config.network.availability_zone_id, config.region
    is_told = region_of_zone(zone) not in (None, region) and region is not None
    are_zones_known = region is None or zones_of(region)
    if not is_known_zone(zone) and are_zones_known and not is_told:
        shown = f"`aws ec2 describe-availability-zones{f' --region {region}' if region else ''}`"
        fix = f"if {shown} lists it, suppress this warning; {zone_fix(zone, region)}"
        yield Problem(ZONE, zone, "unknown zone", fix)


@rule("cidr-size", "network.vpc_cidr", "network.public_subnet_cidr", "network.node_cidr")
def cidr_size(config: ClusterConfig) -> Iterator[Problem]:
    """Address ranges must be between /16 and /28.

    EC2 rejects other sizes, and the deployment rolls back.
    """
    for name in ("vpc_cidr", "public_subnet_cidr", "node_cidr"):
        cidr: IPv4Network = getattr(config.network, name)
        if not 16 <= cidr.prefixlen <= 28:
            nearest_size = f"{cidr.network_address}/{16 if cidr.prefixlen < 16 else 28}"
            yield Problem(("network", name), str(cidr), "must be between /16 and /28", f"use e.g. {nearest_size}")


@rule("public-subnet-in-vpc", "network.vpc_cidr", "network.public_subnet_cidr", "network.existing")
def public_subnet_in_vpc(config: ClusterConfig) -> Iterator[Problem]:
    """The public subnet's range must be inside `vpc_cidr`.

    EC2 rejects a subnet outside its VPC, and the deployment rolls back.
    """
    if config.network.existing is None:
        yield from _public_subnet_outside(config)


@rule(
    "public-subnet-in-existing-vpc",
    *("network.vpc_cidr", "network.public_subnet_cidr", "network.existing"),
    level=Level.WARNING,
)
def public_subnet_in_existing_vpc(config: ClusterConfig) -> Iterator[Problem]:
    """The range of a public subnet in an existing VPC must be inside `vpc_cidr`.

    EC2 rejects a subnet outside its VPC, and the deployment rolls back. The VPC may have other ranges, which the file does not
    contain.
    """
    existing = config.network.existing
    if existing and existing.internet_access is InternetAccess.CREATE:
        yield from _public_subnet_outside(config)


def _public_subnet_outside(config: ClusterConfig) -> Iterator[Problem]:
    network = config.network
    if not network.public_subnet_cidr.subnet_of(network.vpc_cidr):
        example = next(network.vpc_cidr.subnets(new_prefix=max(24, network.vpc_cidr.prefixlen)))
        message = f"must be inside vpc_cidr {network.vpc_cidr}"
        yield Problem(("network", "public_subnet_cidr"), str(network.public_subnet_cidr), message, f"use e.g. {example}")


@rule("node-cidr-conflict", "network.vpc_cidr", "network.node_cidr", "network.existing")
def node_cidr_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """`node_cidr` must be a valid secondary range for the VPC: no overlap with `vpc_cidr`, and of the same address block.

    EC2 rejects other ranges, and the deployment rolls back.
    """
    vpc, nodes = config.network.vpc_cidr, config.network.node_cidr
    if config.network.existing is None and (reason := _conflict(vpc, nodes)):
        fix = f"use another range in {_family(vpc)}, or one in 100.64.0.0/10"
        yield Problem(("network", "node_cidr"), str(nodes), reason, fix)


@rule("docker-cidr-overlap", "network.vpc_cidr", "network.node_cidr", "network.existing", level=Level.WARNING)
def docker_cidr_overlap(config: ClusterConfig) -> Iterator[Problem]:
    """No range of a new network may overlap 172.17.0.0/16, Docker's default network.

    Nodes send traffic for that range to their own containers, so nodes with such addresses cannot reach each other.
    """
    if config.network.existing is not None:
        return
    for name in ("vpc_cidr", "node_cidr"):
        cidr: IPv4Network = getattr(config.network, name)
        if cidr.overlaps(DOCKER):
            message = f"overlaps Docker's network {DOCKER}"
            yield Problem(("network", name), str(cidr), message, "use another range, e.g. 172.20.0.0/16")


@rule("flow-log-retention", "network.flow_logs_retention_days")
def flow_log_retention(config: ClusterConfig) -> Iterator[Problem]:
    """`flow_logs_retention_days` must be a retention period that CloudWatch Logs supports.

    CloudWatch Logs rejects other values, and the deployment rolls back.
    """
    yield from retention_problems(("network", "flow_logs_retention_days"), config.network.flow_logs_retention_days)


def retention_problems(path: Path, days: int) -> Iterator[Problem]:
    """Yield a problem if CloudWatch Logs does not support the retention period."""
    if days not in RETENTION_DAYS:
        longer = next((each for each in RETENTION_DAYS if each > days), RETENTION_DAYS[-1])
        yield Problem(path, days, f"must be one of {', '.join(map(str, RETENTION_DAYS))}", f"use {longer}")


def _conflict(vpc: IPv4Network, nodes: IPv4Network) -> str | None:
    """Return why ``nodes`` cannot be a secondary range of a VPC with the first range ``vpc``."""
    if vpc.overlaps(nodes):
        return f"overlaps vpc_cidr {vpc}"
    if any(nodes.overlaps(never) for never in NEVER_SECONDARY):
        return "reserved by AWS"
    family = next((private for private in PRIVATE if nodes.overlaps(private)), None)
    if family is not None and not vpc.subnet_of(family):
        return f"a VPC with {vpc} cannot add a range in {family}"
    if vpc.overlaps(FIRST_TWO_10_RANGES) and nodes.overlaps(FIRST_10_RANGE):
        return f"a VPC with {vpc} cannot add a range in {FIRST_10_RANGE}"
    return None


def _family(vpc: IPv4Network) -> str:
    family = next((private for private in PRIVATE if vpc.overlaps(private)), None)
    return str(family) if family else "the public ranges"
