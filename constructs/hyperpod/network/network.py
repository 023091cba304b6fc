"""The network of one cluster."""

import aws_cdk as cdk
from constructs import Construct

from config.network import InternetAccess as Access
from config.network import NetworkConfig
from constructs.hyperpod.fingerprint import fingerprint
from constructs.hyperpod.network.flow_logs import FlowLogs
from constructs.hyperpod.network.internet_access import InternetAccess
from constructs.hyperpod.network.node_network import NodeNetwork


class Network(Construct):
    """Define where the nodes live: a VPC of our own, or one that is there already.

    Two parts have different lives. ``NodeNetwork`` is what a file system's interfaces hold, so it stays where the file system
    stays; it costs nothing. ``InternetAccess`` and ``FlowLogs`` cost money, hold nothing, and are made around either.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, removal: cdk.RemovalPolicy) -> None:
        super().__init__(scope, id)
        self._identity = _identity(config)
        self._nodes = config.existing or NodeNetwork(self, "NodeNetwork", config=config, removal=removal)
        if config.existing and config.existing.internet_access is Access.EXISTING:
            return
        InternetAccess(self, "InternetAccess", config=config, vpc_id=self.vpc_id, node_subnets=self._subnets_by_name())
        FlowLogs(self, "FlowLogs", vpc_id=self.vpc_id, retention_days=config.flow_logs_retention_days)

    @property
    def vpc_id(self) -> str:
        """The VPC's id."""
        return self._nodes.vpc_id

    @property
    def node_subnet_ids(self) -> list[str]:
        """The ids of the nodes' private subnets, all in one zone."""
        return list(self._nodes.node_subnet_ids)

    @property
    def security_group_id(self) -> str:
        """The id of the group that nodes and file system share."""
        return self._nodes.security_group_id

    @property
    def identity(self) -> str:
        """A hash that changes when the VPC, a subnet or the group is replaced.

        References across stacks are weak, so that a template's text does not change with the id behind them, and the CDK
        command line skips a stack whose text is the same. Stacks that use the network carry this in their text.
        """
        return self._identity

    def _subnets_by_name(self) -> dict[str, str]:
        """The subnets by what names them for good: their id if they were imported."""
        if isinstance(self._nodes, NodeNetwork):
            return {"NodeSubnet": self._nodes.node_subnet_ids[0]}
        return {subnet_id: subnet_id for subnet_id in self._nodes.node_subnet_ids}


def _identity(config: NetworkConfig) -> str:
    """From all that CloudFormation replaces a VPC, a subnet or a security group for."""
    if config.existing:
        return fingerprint(config.existing.vpc_id, config.existing.node_subnet_ids, config.existing.security_group_id)
    return fingerprint(config.vpc_cidr, config.node_cidr, config.availability_zone_id)
