"""The network section of a cluster file."""

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import BeforeValidator, StrictInt, StringConstraints

from config.section import Change, Section, setting

# Of a Local Zone too: usw2-lax1-az1, and of a sovereign region, eusc-dee1-az1.
ZONE_ID = r"^[a-z]+(-[a-z]+)?[0-9]+(-[a-z]+[0-9]+)*-az[0-9]+$"
AvailabilityZoneId = Annotated[str, StringConstraints(pattern=ZONE_ID)]
SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")]


def _address_range(value: object) -> IPv4Network:
    """The range that a text like ``10.0.0.0/16`` describes."""
    if isinstance(value, IPv4Network):
        return value
    try:
        if not isinstance(value, str) or "/" not in value:
            raise ValueError(value)
        network = IPv4Network(value, strict=False)
    except ValueError as error:
        raise ValueError("must be an IPv4 range in CIDR notation; write it like 10.0.0.0/16") from error
    if str(network) != value:
        raise ValueError(f"does not start where a range of that size can start; write {network}")
    return network


Cidr = Annotated[IPv4Network, BeforeValidator(_address_range)]


class InternetAccess(StrEnum):
    """Who provides the way from imported subnets to the internet and to S3."""

    EXISTING = "existing"
    CREATE = "create"


class ExistingNetwork(Section):
    """A VPC that is there already, and what of it the cluster uses."""

    vpc_id: str = setting("the VPC, e.g. `vpc-0123456789abcdef0`", Change.REPLACES_CLUSTER, pattern=r"^vpc-[0-9a-f]{8,17}$")
    node_subnet_ids: tuple[SubnetId, ...] = setting(
        "private subnets of the nodes, all in `availability_zone_id`; the file system is in the first",
        Change.REPLACES_CLUSTER,
        min_length=1,
        max_length=16,
        api="sagemaker:CreateCluster VpcConfig.Subnets",
    )
    security_group_id: str = setting(
        "security group of the nodes and the file system; it must allow all traffic to and from itself",
        Change.REPLACES_CLUSTER,
        pattern=r"^sg-[0-9a-f]{8,17}$",
        api="sagemaker:CreateCluster VpcConfig.SecurityGroupIds",
    )
    internet_access: InternetAccess = setting(
        "`existing`: the subnets have their routes and endpoints already; `create`: make gateways, routes and endpoints "
        "for them, as after a destroy that retained the network",
        Change.IN_PLACE,
        InternetAccess.EXISTING,
    )


class NetworkConfig(Section):
    """Where the nodes live."""

    availability_zone_id: AvailabilityZoneId = setting(
        "id of the availability zone (not its name, which differs from account to account), e.g. `usw2-az4`",
        Change.REPLACES_CLUSTER,
        api="ec2:CreateSubnet AvailabilityZoneId",
    )
    vpc_cidr: Cidr = setting(
        "first address range of the VPC, also of an existing one; the public subnet is cut from it",
        Change.REPLACES_CLUSTER,
        "10.0.0.0/16",
        validate_default=True,
        api="ec2:CreateVpc CidrBlock",
    )
    public_subnet_cidr: Cidr = setting(
        "range of the public subnet, which holds the NAT gateway; inside `vpc_cidr`, not made with `internet_access: existing`",
        Change.IN_PLACE,
        "10.0.0.0/24",
        validate_default=True,
        api="ec2:CreateSubnet CidrBlock",
    )
    node_cidr: Cidr = setting(
        "second address range of the VPC, all of it the nodes' private subnet; not used with `existing`",
        Change.REPLACES_CLUSTER,
        "10.1.0.0/16",
        validate_default=True,
        api="ec2:AssociateVpcCidrBlock CidrBlock",
    )
    flow_logs_retention_days: StrictInt = setting(
        "days to keep the VPC's flow logs; a period that CloudWatch Logs knows",
        Change.IN_PLACE,
        30,
        ge=1,
        le=3653,
        api="logs:PutRetentionPolicy retentionInDays",
    )
    existing: ExistingNetwork | None = setting("use a network that is there already", Change.REPLACES_CLUSTER, None)
