"""Parts of a VPC, from EC2."""

from collections.abc import Callable, Iterable

from botocore.exceptions import ClientError

from cli.preflight.account import Account, Json
from cli.preflight.runner import code_of


def security_group(account: Account, group_id: str) -> Json | None:
    """Return the security group, or None if it does not exist."""
    ec2 = account.client("ec2")
    return _one(lambda: ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"])


def subnet(account: Account, subnet_id: str) -> Json | None:
    """Return the subnet, or None if it does not exist."""
    ec2 = account.client("ec2")
    return _one(lambda: ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"])


def ranges_of(account: Account, subnet_ids: Iterable[str]) -> list[str]:
    """Return the ranges of the existing subnets, or else of the new nodes' subnet."""
    named = list(dict.fromkeys(subnet_ids))
    if not named:
        return [str(account.config.network.node_cidr)]
    return [found["CidrBlock"] for found in (subnet(account, each) for each in named) if found]


def _one(describe: Callable[[], list[Json]]) -> Json | None:
    try:
        [found] = describe()
    except ClientError as failure:
        if "NotFound" not in code_of(failure):
            raise
        return None
    return dict(found)
