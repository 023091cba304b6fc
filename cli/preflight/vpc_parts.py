"""Parts of a VPC, as EC2 describes them."""

from collections.abc import Callable, Iterable

from botocore.exceptions import ClientError

from cli.preflight.account import Account, Json
from cli.preflight.runner import code_of


def security_group(account: Account, group_id: str) -> Json | None:
    """What EC2 says of the security group; None where there is none of this id."""
    ec2 = account.client("ec2")
    return _one(lambda: ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"])


def subnet(account: Account, subnet_id: str) -> Json | None:
    """What EC2 says of the subnet; None where there is none of this id."""
    ec2 = account.client("ec2")
    return _one(lambda: ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"])


def ranges_of(account: Account, subnet_ids: Iterable[str]) -> list[str]:
    """The ranges of the subnets that are there, or else of the nodes' subnet that the deployment makes."""
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
