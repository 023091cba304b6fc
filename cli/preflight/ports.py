"""Check that a file system's interfaces accept the nodes."""

from collections.abc import Iterator
from typing import Any

from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, warning
from cli.preflight.vpc_parts import Rule, admits, names_a_list, ranges_of, security_group

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
LUSTRE_PORTS = (988, *range(1018, 1024))
# NFS's own: nodes mount by version 4.2 (lifecycle_assets/hyperpod_node/steps/openzfs.py), which needs no port mapper.
NFS_PORTS = (2049,)

Nodes = tuple[tuple[str, ...], tuple[str, ...]]
"""Security groups and subnets that nodes share."""


def ports(account: Account, found: Json, wanted: tuple[int, ...]) -> Iterator[CheckResult]:
    """Yield the ports that the interfaces do not accept from the nodes' security groups or subnets."""
    name, shared = found["FileSystemId"], _shared(account)
    if not shared[0]:
        yield warning(
            f"{name}: unknown until the deployment creates the nodes' security group",
            f"allow TCP {_listed(wanted)} from {account.config.network.node_cidr}, or set `network.existing`",
        )
    if not found.get("NetworkInterfaceIds"):
        yield _unseen(name, "whose interfaces are not listed", wanted)
        return
    rules = [rule for each in _groups_of(account, found) for rule in each["IpPermissions"]]
    for nodes in dict.fromkeys([shared, *_own(account, shared)]):
        yield from _closed(account, name, rules, nodes, wanted)


def _closed(account: Account, name: str, rules: list[Rule], nodes: Nodes, wanted: tuple[int, ...]) -> Iterator[CheckResult]:
    """Yield the closed ports for these nodes; a warning has covered nodes in new security groups."""
    security_groups, ranges = nodes[0], ranges_of(account, nodes[1])
    closed = tuple(port for port in wanted if not admits(rules, port, groups=security_groups, ranges=ranges))
    if not closed or not security_groups:
        return
    if all(names_a_list(rules, port) for port in closed):
        yield _unseen(name, "whose rules name a prefix list", closed)
        return
    yield error(
        f"{name} does not accept the nodes ({', '.join(security_groups)}) on TCP {_listed(closed)}",
        f"allow TCP {_listed(wanted)} from them in the file system's security groups",
    )


def _unseen(name: str, why: str, wanted: tuple[int, ...]) -> CheckResult:
    return warning(
        f"{name}, {why}: unknown whether it accepts the nodes on TCP {_listed(wanted)}",
        "check this in the account that owns the network",
    )


def _shared(account: Account) -> Nodes:
    """Return the network of most nodes."""
    made = account.output("SecurityGroupId")
    return account.request.node_security_groups or ((made,) if made else ()), account.request.node_subnets


def _own(account: Account, shared: Nodes) -> Iterator[Nodes]:
    """Yield the networks of groups that have their own."""
    for group in account.request.all_groups:
        if group.has_own_network:
            yield group.security_groups or shared[0], group.subnets or shared[1]


def _groups_of(account: Account, found: Json) -> list[dict[str, Any]]:
    """Return the security groups of the file system's interfaces, which all have the same."""
    ids = found["NetworkInterfaceIds"][:1]
    interfaces = account.client("ec2").describe_network_interfaces(NetworkInterfaceIds=ids)["NetworkInterfaces"]
    named = dict.fromkeys(group["GroupId"] for each in interfaces for group in each["Groups"])
    return [group for group in (security_group(account, each) for each in named) if group]


def _listed(wanted: tuple[int, ...]) -> str:
    return "988 and 1018-1023" if wanted == LUSTRE_PORTS else ", ".join(map(str, wanted))
