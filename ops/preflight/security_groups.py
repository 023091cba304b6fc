"""Whether the security groups that the file names let nodes reach each other and the file system."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from config.instance_types import instance_type
from ops.preflight.account import Account
from ops.preflight.asking import code_of
from ops.preflight.finding import Finding, error, not_asked, ok, warning
from ops.preflight.rules_of_groups import admits, anywhere, names_itself
from ops.preflight.wanted import groups, node_security_groups

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html: EFA wants both rules, each naming the group itself. They
# hold Lustre's ports, 988 and 1018-1023 (https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html).
HTTPS = 443
# https://slurm.schedmd.com/slurm.conf.html: the defaults of SlurmctldPort and SlurmdPort.
SLURMCTLD, SLURMD = 6817, 6818
INWARD, OUTWARD = "ingress", "egress"


def security_groups(account: Account) -> Iterator[Finding]:
    """Each group is there, in the VPC, and open to itself in both directions."""
    config = account.config
    existing = config.network.existing
    named = dict.fromkeys(node_security_groups(config), existing.vpc_id if existing else None)
    named |= {each: None for group in groups(config) for each in group.network.get("SecurityGroupIds") or () if each not in named}
    if not named:
        yield not_asked("the deployment makes the nodes' security group")
    for group_id, vpc_id in named.items():
        yield from _group(account, group_id, vpc_id)
    yield from _apart(account)


def security_group(account: Account, group_id: str) -> dict[str, Any] | None:
    """What EC2 says of the group; None where there is none of this id."""
    try:
        [found] = account.client("ec2").describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    except ClientError as failure:
        if "NotFound" in code_of(failure):
            return None
        raise
    return dict(found)


def _group(account: Account, group_id: str, vpc_id: str | None) -> Iterator[Finding]:
    found = security_group(account, group_id)
    if found is None:
        yield error(f"there is no security group {group_id} in {account.region}", "correct its id, or `region`")
        return
    if vpc_id and found["VpcId"] != vpc_id:
        yield error(f"{group_id} is in {found['VpcId']}, not in {vpc_id}", "name a group of the VPC")
    problems = [*_inward(found), *_outward(found, has_efa=_has_efa(account)), *_to_aws(found)]
    yield from problems or [ok(f"{group_id} lets its members reach each other, Lustre's ports included")]


def _apart(account: Account) -> Iterator[Finding]:
    """Nodes with security groups of their own still reach the others: slurmd hears the controller, and slurmctld hears them."""
    shared = node_security_groups(account.config)
    for group in groups(account.config):
        own = tuple(group.network.get("SecurityGroupIds") or ())
        if not shared or not own or set(own) & set(shared):
            continue
        for port, here, there in ((SLURMD, own, shared), (SLURMCTLD, shared, own)):
            found = [each for each in (security_group(account, group_id) for group_id in here) if each]
            if not any(admits(each["IpPermissions"], port, groups=there, ranges=["0.0.0.0/0"]) for each in found):
                yield warning(
                    f"{', '.join(here)} does not let in TCP {port} from {', '.join(there)}: Slurm may not see group {group.name}",
                    "let each group in by its id, or see that a rule for the subnets' ranges does",
                )


def _inward(found: dict[str, Any]) -> Iterator[Finding]:
    if not names_itself(found["IpPermissions"], found["GroupId"]):
        yield error(
            f"{found['GroupId']} does not let in all traffic from itself: Slurm, Lustre (988, 1018-1023) and EFA need it",
            _remedy(found["GroupId"], INWARD),
        )


def _outward(found: dict[str, Any], *, has_efa: bool) -> Iterator[Finding]:
    rules = found["IpPermissionsEgress"]
    if names_itself(rules, found["GroupId"]) or (anywhere(rules) and not has_efa):
        return
    why = "EFA needs a rule that names the group itself, and 0.0.0.0/0 is not enough" if has_efa else "Slurm and Lustre need it"
    yield error(f"{found['GroupId']} does not let out all traffic to itself: {why}", _remedy(found["GroupId"], OUTWARD))


def _to_aws(found: dict[str, Any]) -> Iterator[Finding]:
    """Nodes are managed, get their scripts and write their logs over HTTPS."""
    if not admits(found["IpPermissionsEgress"], HTTPS, groups=[], ranges=["0.0.0.0/0"]):
        yield warning(
            f"{found['GroupId']} does not let out TCP {HTTPS} to everywhere, and nodes reach AWS by it",
            "see that its rules let nodes reach the VPC's endpoints for all that they use, or add a rule",
        )


def _remedy(group_id: str, direction: str) -> str:
    rule = f"IpProtocol=-1,UserIdGroupPairs=[{{GroupId={group_id}}}]"
    return f"`aws ec2 authorize-security-group-{direction} --group-id {group_id} --ip-permissions '{rule}'`"


def _has_efa(account: Account) -> bool:
    known = (instance_type(name) for group in groups(account.config) for name in group.types)
    return any(each.efa_interfaces for each in known if each)
