"""What the rules of security groups let through."""

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Any

Rule = dict[str, Any]
ALL, TCP = "-1", ("tcp", "6")


def names_itself(rules: Iterable[Rule], group_id: str) -> bool:
    """Whether a rule lets through all traffic with the group itself, by its id: a range will not do for EFA."""
    return any(rule["IpProtocol"] == ALL and group_id in _groups(rule) for rule in rules)


def anywhere(rules: Iterable[Rule]) -> bool:
    """Whether a rule lets through all traffic with everybody."""
    return any(rule["IpProtocol"] == ALL and "0.0.0.0/0" in _ranges(rule) for rule in rules)


def admits(rules: Iterable[Rule], port: int, *, groups: Iterable[str], ranges: Iterable[str]) -> bool:
    """Whether the rules let through TCP on the port with members of one of the groups, or with all of the ranges."""
    open_rules = [rule for rule in rules if _holds(rule, port)]
    if any(set(groups) & _groups(rule) for rule in open_rules):
        return True
    allowed = [IPv4Network(each) for rule in open_rules for each in _ranges(rule)]
    wanted = [IPv4Network(each) for each in ranges]
    return bool(wanted) and all(any(each.subnet_of(larger) for larger in allowed) for each in wanted)


def _holds(rule: Rule, port: int) -> bool:
    if rule["IpProtocol"] == ALL:
        return True
    return rule["IpProtocol"] in TCP and rule.get("FromPort", 0) <= port <= rule.get("ToPort", 65535)


def _groups(rule: Rule) -> set[str]:
    return {each["GroupId"] for each in rule.get("UserIdGroupPairs") or [] if "GroupId" in each}


def _ranges(rule: Rule) -> set[str]:
    return {each["CidrIp"] for each in rule.get("IpRanges") or [] if "CidrIp" in each}
