"""Parts of a VPC, from EC2, and what rules of its security groups allow."""

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Any

from cli.aws_errors import unless_absent
from cli.preflight.account import Account, Json

Rule = dict[str, Any]
ALL, TCP = "-1", ("tcp", "6")
LAST_PORT = 65535


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


def names_one(rules: Iterable[Rule], groups: Iterable[str]) -> bool:
    """Return whether a rule allows all traffic with one of the groups by its id: EFA does not accept a range."""
    return any(rule["IpProtocol"] == ALL and set(groups) & _groups(rule) for rule in rules)


def admits(rules: Iterable[Rule], port: int, *, groups: Iterable[str], ranges: Iterable[str]) -> bool:
    """Return whether the rules allow TCP on the port with one of the groups, or with all of the ranges."""
    return _met([rule for rule in rules if _holds(rule, port, port)], groups, ranges)


def admits_all(rules: Iterable[Rule], *, groups: Iterable[str], ranges: Iterable[str]) -> bool:
    """Return whether a rule allows TCP on all ports with one of the groups, or rules do with all of the ranges."""
    return _met([rule for rule in rules if _holds(rule, 1, LAST_PORT)], groups, ranges)


def names_a_list(rules: Iterable[Rule], port: int) -> bool:
    """Return whether a rule allows TCP on the port with a prefix list, whose ranges are not read."""
    return any(_holds(rule, port, port) and rule.get("PrefixListIds") for rule in rules)


def _met(rules: list[Rule], groups: Iterable[str], ranges: Iterable[str]) -> bool:
    if any(set(groups) & _groups(rule) for rule in rules):
        return True
    allowed = [IPv4Network(each["CidrIp"]) for rule in rules for each in rule.get("IpRanges") or [] if "CidrIp" in each]
    wanted = [IPv4Network(each) for each in ranges]
    return bool(wanted) and all(any(each.subnet_of(larger) for larger in allowed) for each in wanted)


def _holds(rule: Rule, first: int, last: int) -> bool:
    if rule["IpProtocol"] == ALL:
        return True
    return rule["IpProtocol"] in TCP and rule.get("FromPort", 0) <= first and last <= rule.get("ToPort", LAST_PORT)


def _groups(rule: Rule) -> set[str]:
    return {each["GroupId"] for each in rule.get("UserIdGroupPairs") or [] if "GroupId" in each}
