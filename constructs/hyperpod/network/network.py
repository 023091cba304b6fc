"""Define the network of a cluster."""

import aws_cdk as cdk
from constructs import Construct

from config.network import InternetAccess as Access
from config.network import NetworkConfig
from constructs.hyperpod.network.flow_logs import FlowLogs
from constructs.hyperpod.network.internet_access import InternetAccess
from constructs.hyperpod.network.network_cleanup import NetworkCleanup
from constructs.hyperpod.network.node_network import NodeNetwork


class Network(Construct):
    """Define the nodes' network, in a new VPC or an existing one.

    ``NodeNetwork`` is free and retained together with the file system, whose interfaces use it. ``InternetAccess`` and
    ``FlowLogs`` cost money, are never needed by retained data, and can also be added to an existing VPC.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, removal: cdk.RemovalPolicy) -> None:
        super().__init__(scope, id)
        self._identity = config.identity
        self.cleanup: NetworkCleanup | None = None
        self._nodes = config.existing or NodeNetwork(self, "NodeNetwork", config=config, removal=removal)
        if config.existing and config.existing.internet_access is Access.EXISTING:
            return
        self._access = InternetAccess(
            self, "InternetAccess", config=config, vpc_id=self.vpc_id, node_subnets=self._subnets_by_name()
        )
        FlowLogs(self, "FlowLogs", vpc_id=self.vpc_id, retention_days=config.flow_logs_retention_days)

    def clean_up(self, cluster: str, *, is_vpc_deleted: bool) -> None:
        """Delete what GuardDuty adds to the new VPC before the subnets that are deleted with the stack."""
        self.cleanup = NetworkCleanup(self, "Cleanup", vpc_id=self.vpc_id, cluster=cluster, is_vpc_deleted=is_vpc_deleted)
        subnets = [self._access.public_subnet.ref, *(self.node_subnet_ids if is_vpc_deleted else ())]
        resource = self.cleanup.before_deletion_of(subnets)
        if isinstance(self._nodes, NodeNetwork) and is_vpc_deleted:
            resource.node.add_dependency(self._nodes)

    @property
    def vpc_id(self) -> str:
        """The ID of the VPC."""
        return self._nodes.vpc_id

    @property
    def node_subnet_ids(self) -> list[str]:
        """The IDs of the nodes' private subnets, all in one zone."""
        return list(self._nodes.node_subnet_ids)

    @property
    def security_group_id(self) -> str:
        """The ID of the security group of nodes and file system."""
        return self._nodes.security_group_id

    @property
    def identity(self) -> str:
        """A hash that changes when the VPC, a subnet or the security group is replaced.

        References across stacks are weak: a template does not change with the id that it refers to, and the `cdk` command line
        skips unchanged templates. So stacks that use the network include this hash.
        """
        return self._identity

    def _subnets_by_name(self) -> dict[str, str]:
        """Return the subnets by a stable name: the ID, if imported."""
        if isinstance(self._nodes, NodeNetwork):
            return {"NodeSubnet": self._nodes.node_subnet_ids[0]}
        return {subnet_id: subnet_id for subnet_id in self._nodes.node_subnet_ids}
