"""Parts of a VPC, from EC2."""

from collections.abc import Iterable

from cli.aws_errors import unless_absent
from cli.preflight.account import Account, Json


def described_vpc(account: Account, vpc_id: str) -> Json | None:
    """Return the VPC, or None if it does not exist."""
    found: Json | None = unless_absent(lambda: account.client("ec2").describe_vpcs(VpcIds=[vpc_id])["Vpcs"][0])
    return found


def ranges_of_vpc(found: Json) -> list[str]:
    """Return the address ranges that are associated with the VPC."""
    states = [(each.get("CidrBlockState", {}).get("State"), each) for each in found.get("CidrBlockAssociationSet") or []]
    return [each["CidrBlock"] for state, each in states if state in (None, "associated")] or [found["CidrBlock"]]


def subnets_of_vpc(account: Account, vpc_id: str) -> list[Json]:
    """Return all subnets in the VPC."""
    return list(account.all("ec2", "describe_subnets", "Subnets", Filters=[{"Name": "vpc-id", "Values": [vpc_id]}]))


def security_group(account: Account, group_id: str) -> Json | None:
    """Return the security group, or None if it does not exist."""
    ec2 = account.client("ec2")
    found: Json | None = unless_absent(lambda: ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0])
    return found


def subnet(account: Account, subnet_id: str) -> Json | None:
    """Return the subnet, or None if it does not exist."""
    found: Json | None = unless_absent(lambda: account.client("ec2").describe_subnets(SubnetIds=[subnet_id])["Subnets"][0])
    return found


def ranges_of(account: Account, subnet_ids: Iterable[str]) -> list[str]:
    """Return the ranges of the existing subnets, or else of the new nodes' subnet."""
    named = list(dict.fromkeys(subnet_ids))
    if not named:
        return [str(account.config.network.node_cidr)]
    return [found["CidrBlock"] for found in (subnet(account, each) for each in named) if found]
