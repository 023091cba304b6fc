"""Define the network section."""

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import BeforeValidator, StrictInt, StringConstraints

from config.fingerprint import fingerprint
from config.section import Change, Section, setting

# Including Local Zones, usw2-lax1-az1, and sovereign regions, eusc-dee1-az1.
ZONE_ID = r"^[a-z]+(-[a-z]+)?[0-9]+(-[a-z]+[0-9]+)*-az[0-9]+$"
AvailabilityZoneId = Annotated[str, StringConstraints(pattern=ZONE_ID)]
SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")]


def _address_range(value: object) -> IPv4Network:
    """Parse a range like ``10.0.0.0/16``."""
    if isinstance(value, IPv4Network):
        return value
    try:
        if not isinstance(value, str) or "/" not in value:
            raise ValueError(value)
        network = IPv4Network(value, strict=False)
    except ValueError as error:
        raise ValueError("must be an IPv4 range in CIDR notation", "use e.g. 10.0.0.0/16") from error
    if str(network) != value:
        raise ValueError("has host bits set", f"use {network}")
    return network


Cidr = Annotated[IPv4Network, BeforeValidator(_address_range)]


class InternetAccess(StrEnum):
    """The source of internet and S3 access for existing subnets."""

    EXISTING = "existing"
    CREATE = "create"


class ExistingNetwork(Section):
    """An existing VPC with its subnets and security group."""

    vpc_id: str = setting("VPC id, e.g. `vpc-0123456789abcdef0`", Change.REPLACES_BOTH, pattern=r"^vpc-[0-9a-f]{8,17}$")
    node_subnet_ids: tuple[SubnetId, ...] = setting(
        "private subnets for the nodes, all in `availability_zone_id`; another account may share them; the file system is in the "
        "first",
        Change.REPLACES_BOTH,
        min_length=1,
        max_length=16,
        api="sagemaker:CreateCluster VpcConfig.Subnets",
    )
    security_group_id: str = setting(
        "security group of nodes and file system, which must allow all traffic within itself",
        Change.REPLACES_BOTH,
        pattern=r"^sg-[0-9a-f]{8,17}$",
        api="sagemaker:CreateCluster VpcConfig.SecurityGroupIds[]",
    )
    internet_access: InternetAccess = setting(
        "`existing`: the subnets have routes and endpoints; `create`: create gateways, routes and endpoints, e.g. after a "
        "destroy that retained the network",
        Change.IN_PLACE,
        InternetAccess.EXISTING,
    )


class NetworkConfig(Section):
    """The VPC and the subnets of the nodes."""

    availability_zone_id: AvailabilityZoneId = setting(
        "availability zone id, e.g. `usw2-az4` (not the name, which differs between accounts)",
        Change.AT_CREATION,
        api="ec2:CreateSubnet AvailabilityZoneId",
    )
    vpc_cidr: Cidr = setting(
        "primary range of the VPC, new or existing; it contains the public subnet",
        Change.AT_CREATION,
        "10.0.0.0/16",
        validate_default=True,
        api="ec2:CreateVpc CidrBlock",
    )
    public_subnet_cidr: Cidr = setting(
        "range of the public subnet with the NAT gateway, inside `vpc_cidr`; not used with `internet_access: existing`",
        Change.AT_CREATION,
        "10.0.0.0/24",
        validate_default=True,
        api="ec2:CreateSubnet CidrBlock",
    )
    node_cidr: Cidr = setting(
        "secondary range of the VPC, used for the private subnet of the nodes; not used with `existing`",
        Change.REPLACES_BOTH,
        "10.1.0.0/16",
        validate_default=True,
        api="ec2:AssociateVpcCidrBlock CidrBlock",
    )
    flow_logs_retention_days: StrictInt = setting(
        "retention of the VPC flow logs in days; must be a value that CloudWatch Logs supports",
        Change.IN_PLACE,
        30,
        ge=1,
        le=3653,
        api="logs:PutRetentionPolicy retentionInDays",
    )
    existing: ExistingNetwork | None = setting("existing network to use", Change.REPLACES_BOTH, None)

    @property
    def identity(self) -> str:
        """A hash of all fields whose change replaces the VPC, a subnet or the security group."""
        if self.existing:
            return fingerprint(self.existing.vpc_id, self.existing.node_subnet_ids, self.existing.security_group_id)
        return fingerprint(self.vpc_cidr, self.node_cidr, self.availability_zone_id)
