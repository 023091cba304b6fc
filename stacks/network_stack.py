"""The network of one cluster."""

from typing import Any

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from config.model import ClusterConfig
from config.network import InternetAccess as Access
from config.section import Removal
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal import removal_policy, retain
from stacks.placeholder import fill_if_empty


class NetworkStack(Stack):
    """Where the nodes live."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, **kwargs: Any) -> None:
        super().__init__(scope, id, description=f"Network of HyperPod cluster {config.name}", **kwargs)
        # A file system that stays holds its interfaces, these hold the subnet and the group, and those the VPC.
        lustre = config.storage.lustre
        removal = lustre.removal if lustre else Removal.DESTROY
        self.network = Network(self, "Network", config=config.network, removal=removal_policy(removal))
        if config.removal is Removal.RETAIN:
            retain(self.network)
        fill_if_empty(self)

        CfnOutput(self, "VpcId", value=self.network.vpc_id, description="VPC of the cluster")
        CfnOutput(self, "NodeSubnetIds", value=",".join(self.network.node_subnet_ids), description="Private subnets of the nodes")
        CfnOutput(
            self, "SecurityGroupId", value=self.network.security_group_id, description="Security group of nodes and file system"
        )
        if Removal.RETAIN in (removal, config.removal) and not config.network.existing:
            CfnOutput(
                self,
                "NetworkAfterDestroy",
                value=self._remains(Access.EXISTING if config.removal is Removal.RETAIN else Access.CREATE),
                description="What cdk destroy leaves, as lines for the next file",
            )

    def _remains(self, internet_access: Access) -> str:
        """What stays, as the next file would name it.

        Without the cluster, that is what a file system holds, and costs nothing. With it, gateways and routes stay and go on
        costing, and a VPC takes no second internet gateway.
        """
        network = self.network
        return (
            f"network: {{existing: {{vpc_id: {network.vpc_id}, node_subnet_ids: [{', '.join(network.node_subnet_ids)}], "
            f"security_group_id: {network.security_group_id}, internet_access: {internet_access}}}}}"
        )
