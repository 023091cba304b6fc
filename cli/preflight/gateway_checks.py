"""Check that an existing network accepts the gateways of `internet_access: create`."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, together
from cli.preflight.vpc_parts import subnets_of_vpc
from config.network import ExistingNetwork


def opening(account: Account, existing: ExistingNetwork) -> Iterator[CheckResult]:
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
