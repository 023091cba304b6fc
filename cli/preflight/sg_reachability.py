"""Check that nodes in the same security groups reach each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, warning
from cli.preflight.sg_rules import Rule, admits, admits_all, names_a_list, names_one
from cli.preflight.vpc_parts import ranges_of
from cluster_request.effective_request import Group

# https://slurm.schedmd.com/slurm.conf.html: the defaults of SlurmctldPort and SlurmdPort.
SLURMCTLD, SLURMD = 6817, 6818
EVERYWHERE = ("0.0.0.0/0",)


@dataclass(frozen=True)
class Way:
    """A direction of the traffic between nodes."""

    words: str
    source: str
    command: str


INWARD = Way("let in", "from", "authorize-security-group-ingress")
OUTWARD = Way("let out", "to", "authorize-security-group-egress")


def reach_each_other(account: Account, found: Sequence[Json], members: Sequence[Group]) -> Iterator[CheckResult]:
    """Yield what separates members of all these security groups; a rule in one of the groups is enough."""
    for way, member in ((INWARD, "IpPermissions"), (OUTWARD, "IpPermissionsEgress")):
        ids = [str(each["GroupId"]) for each in found]
        rules = [rule for each in found for rule in each[member]]
        if names_one(rules, ids):
            continue
        yield from (
            _with_efa(way, ids) if any(group.has_efa for group in members) else _without_efa(account, way, ids, rules, members)
        )


def _with_efa(way: Way, ids: list[str]) -> Iterator[CheckResult]:
    """Check the rules that EFA requires: one for each direction, naming the group itself.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    why = "EFA requires a rule with the group itself, not 0.0.0.0/0"
    yield error(f"{_do_not(ids)} {way.words} all traffic {way.source} {_itself(ids)}: {why}", _fix(ids, way))


def _without_efa(
    account: Account, way: Way, ids: list[str], rules: list[Rule], members: Sequence[Group]
) -> Iterator[CheckResult]:
    """Check TCP, which is enough for Slurm and Lustre, also by the nodes' address ranges."""
    if admits_all(rules, groups=ids, ranges=EVERYWHERE):
        return
    ranges = _ranges(account, rules, members)
    if admits_all(rules, groups=ids, ranges=ranges):
        return
    message = f"{_do_not(ids)} {way.words} all traffic {way.source} {_itself(ids)}"
    if names_a_list(rules, SLURMD):
        yield warning(f"{message}, unless a prefix list does", "check that the list contains the nodes' ranges")
    elif all(admits(rules, port, groups=ids, ranges=ranges) for port in (SLURMCTLD, SLURMD)):
        yield warning(
            f"{message}, but Slurm's ports", "check that the ports of srun, jobs and Lustre (988, 1018-1023) are also open"
        )
    else:
        yield error(f"{message}: Slurm and Lustre (988, 1018-1023) need it", _fix(ids, way))


def _ranges(account: Account, rules: list[Rule], members: Sequence[Group]) -> list[str]:
    """Return the ranges of the members' subnets, if a rule has a range."""
    if not any(rule.get("IpRanges") for rule in rules):
        return []
    shared = account.request.node_subnets
    return ranges_of(account, [each for group in members for each in group.subnets or shared])


def _do_not(ids: list[str]) -> str:
    return f"{', '.join(ids)} {'does' if len(ids) == 1 else 'do'} not"


def _itself(ids: list[str]) -> str:
    return "itself" if len(ids) == 1 else "each other"


def _fix(ids: list[str], way: Way) -> str:
    rule = f"IpProtocol=-1,UserIdGroupPairs=[{{GroupId={ids[0]}}}]"
    return f"`aws ec2 {way.command} --group-id {ids[0]} --ip-permissions '{rule}'`"
