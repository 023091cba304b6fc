"""Where the nodes live."""

from collections.abc import Sequence

from aws_cdk import CfnResource, RemovalPolicy, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from config.network import ExistingNetwork, NetworkConfig
from config.network import InternetAccess as InternetAccessChoice
from config.section import Removal
from constructs.hyperpod.cluster_security_group import ClusterSecurityGroup
from constructs.hyperpod.flow_logs import FlowLogs
from constructs.hyperpod.identity import identity_of
from constructs.hyperpod.internet_access import InternetAccess


class Network(Construct):
    """Define the VPC of a cluster with the nodes' subnet and security group, or take existing ones.

    Subnets are pinned to an availability zone by its id, as capacity is. With ``removal`` RETAIN, what a retained file system's
    network interfaces hold stays behind: VPC, address range, node subnet and security group. None of these costs anything.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, removal: Removal) -> None:
        super().__init__(scope, id)
        self._config = config
        self._rules: tuple[CfnResource, ...] = ()
        if config.existing:
            self._use(config.existing)
        else:
            self._create(removal)
        if not config.existing or config.existing.internet_access is InternetAccessChoice.CREATE:
            InternetAccess(self, "InternetAccess", config=config, vpc_id=self._vpc_id, subnet_ids=self._node_subnet_ids)

    @property
    def vpc_id(self) -> str:
        """The VPC's id."""
        return self._vpc_id

    @property
    def node_subnet_ids(self) -> Sequence[str]:
        """The ids of the nodes' private subnets."""
        return self._node_subnet_ids

    @property
    def security_group_id(self) -> str:
        """The id of the security group of the nodes and the file system."""
        return self._security_group_id

    @property
    def identity(self) -> str:
        """Changes when the subnets or the security group are replaced."""
        config = self._config
        if config.existing:
            return identity_of(config.existing.vpc_id, config.existing.node_subnet_ids, config.existing.security_group_id)
        return identity_of(config.vpc_cidr, config.node_cidr, config.availability_zone_id)

    def _use(self, existing: ExistingNetwork) -> None:
        self._vpc_id = existing.vpc_id
        self._node_subnet_ids: Sequence[str] = existing.node_subnet_ids
        self._security_group_id = existing.security_group_id

    def _create(self, removal: Removal) -> None:
        config = self._config
        vpc = ec2.CfnVPC(self, "Vpc", cidr_block=str(config.vpc_cidr), enable_dns_support=True, enable_dns_hostnames=True)
        node_range = ec2.CfnVPCCidrBlock(self, "NodeRange", vpc_id=vpc.ref, cidr_block=str(config.node_cidr))
        subnet = ec2.CfnSubnet(
            self,
            "NodeSubnet",
            vpc_id=vpc.ref,
            cidr_block=str(config.node_cidr),
            availability_zone_id=config.availability_zone_id,
        )
        subnet.add_resource_dependency(node_range)
        group = ClusterSecurityGroup(self, "SecurityGroup", vpc_id=vpc.ref)
        for named in (vpc, subnet):
            Tags.of(named).add("Name", named.node.path)
        for held in (vpc, node_range, subnet, group.resource, *group.rules):
            held.apply_removal_policy(RemovalPolicy.RETAIN if removal is Removal.RETAIN else RemovalPolicy.DESTROY)
        FlowLogs(self, "FlowLogs", vpc_id=vpc.ref, retention_days=config.flow_logs_retention_days)
        self._vpc_id, self._node_subnet_ids, self._security_group_id = vpc.ref, [subnet.ref], group.group_id
