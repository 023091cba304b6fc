"""Check that the security groups in the file let nodes reach each other, the file system and AWS."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, skipped, together, warning
from cli.preflight.vpc_parts import Rule, admits, admits_all, names_a_list, names_one, ranges_of, security_group
from cluster_request.effective_request import Group
from config.instance_group import Role

HTTPS = 443
# https://slurm.schedmd.com/slurm.conf.html: the defaults of SlurmctldPort and SlurmdPort.
SLURMCTLD, SLURMD = 6817, 6818
EVERYWHERE = ("0.0.0.0/0",)

Ids = tuple[str, ...]


def security_groups(account: Account) -> Iterator[CheckResult]:
    """Check that each group exists in the VPC, and that its members reach each other in both directions."""
    sets = _sets(account)
    if not sets:
        yield skipped("the deployment creates the nodes' security group")
    named = dict.fromkeys(each for ids in sets for each in ids)
    found = {each: group for each in named if (group := security_group(account, each))}
    yield from _misplaced(account, named, found)
    for ids, members in sets.items():
        if set(ids) <= found.keys():
            there = [found[each] for each in ids]
            let = "lets its" if len(ids) == 1 else "let their"
            if _need_each_other(account, ids, members):
                well = f"{', '.join(ids)} {let} members reach each other, also on Lustre's ports"
                yield from together(account, _reach_each_other(account, there, members), _to_aws(there), well=well)
            else:
                yield from together(account, _to_aws(there), well=f"{', '.join(ids)} {let} members reach AWS")
    yield from _apart(account, found)


def _sets(account: Account) -> dict[Ids, list[Group]]:
    """Return the sets of security groups that nodes share, with the instance groups of these nodes."""
    shared = account.request.node_security_groups
    sets: dict[Ids, list[Group]] = {shared: []} if shared else {}
    for group in account.request.all_groups:
        if ids := _own(group) or shared:
            sets.setdefault(ids, []).append(group)
    return sets


def _need_each_other(account: Account, ids: Ids, members: list[Group]) -> bool:
    """Return whether members talk to each other: not a single node, nor login nodes.

    A new file system also has the security groups that most nodes share.
    """
    login = {group.name for group in account.config.of_role(Role.LOGIN)}
    is_apart = ids != account.request.node_security_groups
    return not (is_apart and (sum(group.count for group in members) <= 1 or {group.name for group in members} <= login))


def _own(group: Group) -> Ids:
    return tuple(dict.fromkeys(group.security_groups))


def _misplaced(account: Account, named: Mapping[str, object], found: Mapping[str, Json]) -> Iterator[CheckResult]:
    existing = account.config.network.existing
    for group_id in named:
        if group_id not in found:
            yield error(f"no security group {group_id} in {account.region}", "correct the id or `region`")
        elif existing and found[group_id]["VpcId"] != existing.vpc_id:
            yield error(f"{group_id} is in {found[group_id]['VpcId']}, not in {existing.vpc_id}", "use a group in the VPC")


def _apart(account: Account, found: Mapping[str, Json]) -> Iterator[CheckResult]:
    """Check ports between nodes in different security groups: all reach slurmctld, which reaches compute nodes."""
    shared, roles = account.request.node_security_groups, {each.name: each.role for each in account.config.instance_groups}
    for group in account.request.all_groups:
        own = _own(group)
        if not shared or not own or set(own) & set(shared):
            continue
        for port, here, there in _heard(roles.get(group.name), own, shared):
            rules = [rule for each in here if each in found for rule in found[each]["IpPermissions"]]
            if not admits(rules, port, groups=there, ranges=EVERYWHERE):
                yield warning(
                    f"{', '.join(here)} does not let in TCP {port} from {', '.join(there)}: Slurm may not see group {group.name}",
                    "add a rule with each group's id, or check the rule with the subnets' ranges",
                )


def _heard(role: Role | None, own: Ids, shared: Ids) -> tuple[tuple[int, Ids, Ids], ...]:
    """Yield which port is open to which nodes: slurmctld on controllers, slurmd on compute nodes."""
    match role:
        case Role.CONTROLLER:
            return (SLURMCTLD, own, shared), (SLURMD, shared, own)
        case Role.LOGIN:
            return ((SLURMCTLD, shared, own),)
    return (SLURMD, own, shared), (SLURMCTLD, shared, own)


def _to_aws(found: list[Json]) -> Iterator[CheckResult]:
    """Check HTTPS, by which nodes are managed, get their scripts and write their logs."""
    rules = [rule for each in found for rule in each["IpPermissionsEgress"]]
    if not admits(rules, HTTPS, groups=[], ranges=EVERYWHERE):
        listed = ", ".join(each["GroupId"] for each in found)
        yield warning(
            f"{listed} {_do(found)} not let out TCP {HTTPS} to everywhere, by which nodes reach AWS",
            "check that its rules allow all VPC endpoints that nodes use, or add a rule",
        )


@dataclass(frozen=True)
class Way:
    """A direction of the traffic between nodes."""

    words: str
    source: str
    command: str


INWARD = Way("let in", "from", "authorize-security-group-ingress")
OUTWARD = Way("let out", "to", "authorize-security-group-egress")


def _reach_each_other(account: Account, found: Sequence[Json], members: Sequence[Group]) -> Iterator[CheckResult]:
    """Yield what separates members of all these security groups; a rule in one of the groups is enough."""
    for way, member in ((INWARD, "IpPermissions"), (OUTWARD, "IpPermissionsEgress")):
        ids = [str(each["GroupId"]) for each in found]
        rules = [rule for each in found for rule in each[member]]
        if names_one(rules, ids):
            continue
        itself = "itself" if len(ids) == 1 else "each other"
        message = f"{', '.join(ids)} {_do(found)} not {way.words} all traffic {way.source} {itself}"
        rule = f"IpProtocol=-1,UserIdGroupPairs=[{{GroupId={ids[0]}}}]"
        fix = f"`aws ec2 {way.command} --group-id {ids[0]} --ip-permissions '{rule}'`"
        if any(group.has_efa for group in members):
            # In each direction: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
            yield error(f"{message}: EFA requires a rule with the group itself, not 0.0.0.0/0", fix)
        else:
            yield from _without_efa(account, ids, rules, members, error(message, fix))


def _without_efa(
    account: Account, ids: list[str], rules: list[Rule], members: Sequence[Group], problem: CheckResult
) -> Iterator[CheckResult]:
    """Check TCP, which is enough for Slurm and Lustre, also by the nodes' address ranges."""
    message = problem.message
    if admits_all(rules, groups=ids, ranges=EVERYWHERE):
        return
    ranges = _ranges(account, rules, members)
    if admits_all(rules, groups=ids, ranges=ranges):
        return
    if names_a_list(rules, SLURMD):
        yield warning(f"{message}, unless a prefix list does", "check that the list contains the nodes' ranges")
    elif all(admits(rules, port, groups=ids, ranges=ranges) for port in (SLURMCTLD, SLURMD)):
        yield warning(
            f"{message}, but Slurm's ports", "check that the ports of srun, jobs and Lustre (988, 1018-1023) are also open"
        )
    else:
        yield error(f"{message}: Slurm and Lustre (988, 1018-1023) need it", problem.fix)


def _ranges(account: Account, rules: list[Rule], members: Sequence[Group]) -> list[str]:
    """Return the ranges of the members' subnets, if a rule has a range."""
    if not any(rule.get("IpRanges") for rule in rules):
        return []
    shared = account.request.node_subnets
    return ranges_of(account, [each for group in members for each in group.subnets or shared])


def _do(security_groups: Sequence[Json]) -> str:
    return "does" if len(security_groups) == 1 else "do"
