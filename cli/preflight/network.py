"""Check the VPC and the subnets in the file, their way to the internet, and what others put into the VPC of the deployment."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from cli.leftovers import foreign
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, skipped, together, warning
from cli.preflight.vpc_parts import described_vpc, ranges_of_vpc, subnets_of_vpc
from config.network import ExistingNetwork, InternetAccess

DNS = {"enableDnsSupport": "--enable-dns-support", "enableDnsHostnames": "--enable-dns-hostnames"}
"""The settings that names of file systems and endpoints require, and the options that turn them on."""


def vpc(account: Account) -> Iterator[CheckResult]:
    """Check that the imported VPC exists, resolves names and has the file's address range."""
    existing = account.config.network.existing
    if existing is None:
        yield skipped("the deployment creates the network")
        return
    found = described_vpc(account, existing.vpc_id)
    if found is None:
        yield error(f"no VPC {existing.vpc_id} in {account.region}", "correct `network.existing.vpc_id` or `region`")
        return
    well = f"{existing.vpc_id} ({found['CidrBlock']}) exists and resolves names"
    yield from together(account, _dns(account, existing.vpc_id), _range(account, found), well=well)


def _dns(account: Account, vpc_id: str) -> Iterator[CheckResult]:
    for attribute, option in DNS.items():
        member = attribute[0].upper() + attribute[1:]
        if not account.client("ec2").describe_vpc_attribute(VpcId=vpc_id, Attribute=attribute)[member]["Value"]:
            yield error(
                f"{vpc_id} has {attribute} off, so nodes cannot resolve their file system",
                f"`aws ec2 modify-vpc-attribute --vpc-id {vpc_id} {option}`",
            )


def _range(account: Account, found: dict[str, Any]) -> Iterator[CheckResult]:
    """Check `vpc_cidr`, from which a new public subnet is cut."""
    network = account.config.network
    ranges = ranges_of_vpc(found)
    is_used = network.existing is not None and network.existing.internet_access is InternetAccess.CREATE
    if is_used and str(network.vpc_cidr) not in ranges:
        yield error(
            f"{found['VpcId']} has {', '.join(ranges)}, and `vpc_cidr` is {network.vpc_cidr}",
            "set `network.vpc_cidr` to one of its ranges, and `public_subnet_cidr` to a free part of it",
        )


def internet(account: Account) -> Iterator[CheckResult]:
    """Check that the imported subnets have a route to the internet, or can get one."""
    existing = account.config.network.existing
    if existing is None or (existing.internet_access is InternetAccess.CREATE and "Network" in account.stacks):
        yield skipped("the deployment creates gateways and routes")
        return
    if existing.internet_access is InternetAccess.CREATE:
        yield from _opening(account, existing)
        return
    filters = [{"Name": "vpc-id", "Values": [existing.vpc_id]}]
    tables = list(account.all("ec2", "describe_route_tables", "RouteTables", Filters=filters))
    if not tables:  # every VPC has a main table
        yield skipped(f"no VPC {existing.vpc_id}")
        return
    for subnet_id in existing.node_subnet_ids:
        routes = _routes(subnet_id, tables)
        default = next((route for route in routes if route.get("DestinationCidrBlock") == "0.0.0.0/0"), None)
        yield _way_out(subnet_id, default) if default else _closed(account, subnet_id, filters)


def _routes(subnet_id: str, tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the routes of the subnet's own table, or else of the VPC's main table."""
    main: list[dict[str, Any]] = []
    for table in tables:
        for each in table.get("Associations") or []:
            if each.get("SubnetId") == subnet_id:
                return list(table["Routes"])
            if each.get("Main"):
                main = list(table["Routes"])
    return main


def _closed(account: Account, subnet_id: str, filters: list[dict[str, Any]]) -> CheckResult:
    listed = account.all("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters)
    there = sorted(
        {each["ServiceName"].rpartition(f".{account.region}.")[2] for each in listed if each["State"].lower() == "available"}
    )
    return warning(
        f"{subnet_id} has no default route: nodes reach no package repository, and AWS only by the VPC's endpoints "
        f"({', '.join(there) or 'there are none'})",
        "check the endpoints for S3, SSM, SSM messages, EC2, logs, monitoring, STS and SageMaker, or add a NAT gateway",
    )


def _way_out(subnet_id: str, default: dict[str, Any]) -> CheckResult:
    if default.get("State") == "blackhole":
        return error(f"{subnet_id}'s default route is a blackhole", "fix the route: nodes cannot start without access to AWS")
    target = next(
        (default[key] for key in ("NatGatewayId", "TransitGatewayId", "NetworkInterfaceId", "GatewayId") if default.get(key)), ""
    )
    if target.startswith("igw-"):
        return error(
            f"{subnet_id} is public: its default route is {target}, but nodes get no public addresses",
            "use a private subnet with a default route to a NAT gateway",
        )
    return ok(f"{subnet_id} has a route to the internet by {target or 'its default route'}")


def foreign_resources(account: Account) -> Iterator[CheckResult]:
    """Warn about each resource of others in a VPC that the deployment created."""
    if account.config.network.existing or "Network" not in account.stacks:
        yield skipped("the deployment has created no VPC")
        return
    found = [each.sentence for each in foreign(account.client("ec2"), account.config.name)]
    if account.config.retains_network:
        yield from (ok(f"{each}; `cdk destroy` keeps the VPC") for each in found)
    else:
        yield from (warning(each, "delete it before `cdk destroy`, which does not") for each in found)
    if not found:
        yield ok("the VPC has no resources of others")


def _opening(account: Account, existing: ExistingNetwork) -> Iterator[CheckResult]:
    """Check that the VPC has no internet gateway, and that the public subnet's range is free."""
    well = f"{existing.vpc_id} has no internet gateway yet, and {account.config.network.public_subnet_cidr} is free"
    yield from together(account, _gateways(account, existing.vpc_id), _overlaps(account, existing.vpc_id), well=well)


def _gateways(account: Account, vpc_id: str) -> Iterator[CheckResult]:
    filters = [{"Name": "attachment.vpc-id", "Values": [vpc_id]}]
    for each in account.all("ec2", "describe_internet_gateways", "InternetGateways", Filters=filters):
        yield error(
            f"{vpc_id} has internet gateway {each['InternetGatewayId']}, and a VPC can have only one",
            "set `network.existing.internet_access: existing`, and check that the subnets have a route to the internet",
        )


def _overlaps(account: Account, vpc_id: str) -> Iterator[CheckResult]:
    wanted = account.config.network.public_subnet_cidr
    for each in subnets_of_vpc(account, vpc_id):
        if wanted.overlaps(IPv4Network(each["CidrBlock"])):
            yield error(
                f"`public_subnet_cidr` {wanted} overlaps with {each['SubnetId']} ({each['CidrBlock']})",
                f"choose a free range in {account.config.network.vpc_cidr}",
            )
