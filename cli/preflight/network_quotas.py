"""Check the quotas of VPC and EC2 for a new network, and for the nodes' interfaces."""

from collections.abc import Iterator

from cli.group_members import groups_of
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, one_by_one, skipped
from cli.preflight.live_clusters import described, has_own_name, running
from cli.preflight.quotas import Quotas
from config.instance_types import instance_type
from config.network import InternetAccess

# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
VPCS = "VPCs per Region"
GATEWAYS = "Internet gateways per Region"
NAT_GATEWAYS = "NAT gateways per Availability Zone"
INTERFACES = "Network interfaces per Region"
# https://docs.aws.amazon.com/general/latest/gr/ec2-service.html
ADDRESSES = "EC2-VPC Elastic IPs"
STANDING = ("available", "pending")


def network_quotas(account: Account) -> Iterator[CheckResult]:
    """Check VPCs, gateways and addresses of a new network, and interfaces of any."""
    existing = account.config.network.existing
    quotas = Quotas(account, "vpc")
    parts = [_interfaces(account, quotas)]
    if "Network" in account.stacks:
        yield skipped("the network already exists")
    else:
        if existing is None or existing.internet_access is InternetAccess.CREATE:
            parts = [_internet_gateways(account, quotas), _nat_gateways(account, quotas), _addresses(account), *parts]
        if existing is None:
            parts = [_vpcs(account, quotas), *parts]
    yield from one_by_one(account, *parts)


def _vpcs(account: Account, quotas: Quotas) -> Iterator[CheckResult]:
    yield quotas.judged(VPCS, asked=1, used=_count(account, "describe_vpcs", "Vpcs"))


def _internet_gateways(account: Account, quotas: Quotas) -> Iterator[CheckResult]:
    yield quotas.judged(GATEWAYS, asked=1, used=_count(account, "describe_internet_gateways", "InternetGateways"))


def _addresses(account: Account) -> Iterator[CheckResult]:
    used = len(account.client("ec2").describe_addresses()["Addresses"])
    yield Quotas(account, "ec2").judged(ADDRESSES, asked=1, used=used)


def _interfaces(account: Account, quotas: Quotas) -> Iterator[CheckResult]:
    used = _count(account, "describe_network_interfaces", "NetworkInterfaces")
    yield quotas.judged(INTERFACES, asked=_more_interfaces(account), used=used)


def _count(account: Account, operation: str, items: str) -> int:
    return sum(1 for _ in account.all("ec2", operation, items))


def _nat_gateways(account: Account, quotas: Quotas) -> Iterator[CheckResult]:
    """Return the number of gateways in the nodes' zone: the quota is per zone."""
    zone = {"Name": "availability-zone-id", "Values": [account.config.network.availability_zone_id]}
    here = {each["SubnetId"] for each in account.all("ec2", "describe_subnets", "Subnets", Filters=[zone])}
    listed = account.all("ec2", "describe_nat_gateways", "NatGateways")
    used = sum(each["State"] in STANDING and each.get("SubnetId") in here for each in listed)
    yield quotas.judged(NAT_GATEWAYS, asked=1, used=used)


def _more_interfaces(account: Account) -> int:
    """Return the interfaces needed beyond those of the file's own cluster; an unknown type counts as one."""
    asked = sum(group.count * max(map(_of_node, group.types)) for group in account.request.all_groups)
    own = (each for each in described(account) if has_own_name(account, each))
    have = (running(group) for each in own for group in groups_of(each))
    held = sum(count * _of_node(name) for nodes in have for name, count in nodes.items())
    file_systems = 0 if "Storage" in account.stacks else len(account.config.storage.created_file_systems)
    return max(0, asked - held) + file_systems


def _of_node(name: str) -> int:
    known = instance_type(name)
    return known.network_cards if known else 1
