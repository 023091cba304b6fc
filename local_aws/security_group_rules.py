"""The traffic that security groups allow between their own members, from moto's EC2."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["ingress", "egress"]


@dataclass(frozen=True)
class Groups:
    """The security groups of a network interface, and the addresses of its subnet."""

    groups: tuple[Any, ...]
    cidr: str

    @property
    def ids(self) -> set[str]:
        """Return the groups' ids."""
        return {str(group.id) for group in self.groups}

    def allow_port(self, direction: Direction, port: int) -> bool:
        """Return whether TCP traffic on ``port`` is allowed between members, by group or by address."""
        return any(_covers_port(rule, port) and self._is_peer(rule) for rule in self._rules(direction))

    def allow_all_of_themselves(self, direction: Direction) -> bool:
        """Return whether a rule that names one of the groups allows all traffic, as EFA requires; address ranges do not count."""
        return any(rule.ip_protocol == "-1" and self._names(rule) for rule in self._rules(direction))

    def reach(self, other: "Groups", port: int) -> bool:
        """Return whether TCP traffic to ``port`` of ``other`` is allowed by the rules of both."""
        return any(_covers_port(rule, port) and other._is_peer(rule) for rule in self._rules("egress")) and any(
            _covers_port(rule, port) and self._is_peer(rule) for rule in other._rules("ingress")
        )

    def _rules(self, direction: Direction) -> Iterable[Any]:
        for group in self.groups:
            yield from group.ingress_rules if direction == "ingress" else group.egress_rules

    def _names(self, rule: Any) -> bool:
        return rule.source_group.get("GroupId") in self.ids

    def _is_peer(self, rule: Any) -> bool:
        if self._names(rule):
            return True
        cidr = rule.ip_range.get("CidrIp")
        return bool(cidr) and ipaddress.IPv4Network(self.cidr).subnet_of(ipaddress.IPv4Network(cidr))


def references(groups: Iterable[Any], group_id: str) -> list[str]:
    """Return the ids of the other groups whose rules name ``group_id``."""
    return [
        str(group.id)
        for group in groups
        if group.id != group_id
        and any(rule.source_group.get("GroupId") == group_id for rule in [*group.ingress_rules, *group.egress_rules])
    ]


def _covers_port(rule: Any, port: int) -> bool:
    if rule.ip_protocol == "-1":
        return True
    return rule.ip_protocol == "tcp" and bool(rule.from_port <= port <= rule.to_port)
