"""Define the network of a cluster."""

from aws_cdk import Stack
from constructs import Construct

from config.model import ClusterConfig
from config.section import Removal
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import removal_policy, retain
from constructs.hyperpod.reuse import network_section
from stacks.stack_content import define_outputs, fill_if_empty


class NetworkStack(Stack):
    """Define the network of the nodes and the file system."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig) -> None:
        super().__init__(scope, id, description=f"Network of HyperPod cluster {config.name}")
        # A retained file system uses its network interfaces, and so the subnet, the security group and the VPC; a retained EKS
        # cluster uses the security group and the VPC.
        removal = Removal.RETAIN if config.retains_network else Removal.DESTROY
        self.network = Network(self, "Network", config=config.network, removal=removal_policy(removal))
        if config.removal is Removal.RETAIN:
            retain(self.network)
        elif config.network.existing is None:
            self.network.clean_up(config.name, is_vpc_deleted=not config.retains_network)
        fill_if_empty(self)

        reuse = network_section(config, self.network)
        define_outputs(
            self,
            ("VpcId", self.network.vpc_id, "VPC of the cluster"),
            ("NodeSubnetIds", ",".join(self.network.node_subnet_ids), "Private subnets of the nodes"),
            ("SecurityGroupId", self.network.security_group_id, "Security group of nodes and file system"),
            ("NetworkAfterDestroy", reuse, "Network that cdk destroy retains, as YAML to reuse it"),
        )
