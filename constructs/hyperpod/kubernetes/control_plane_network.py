"""Define the subnets of the EKS control plane's network interfaces."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from config.control_plane_zones import control_plane_zones
from config.eks import EksConfig
from config.tags import NETWORK_TAG
from constructs.hyperpod.network.network import Network


class ControlPlaneNetwork(Construct):
    """Define two private subnets in two zones, unless the file names existing ones.

    Nodes are in one zone, but EKS requires two for the control plane. The subnets need no routes: nodes and control plane reach
    each other inside the VPC.
    """

    def __init__(self, scope: Construct, id: str, *, config: EksConfig, network: Network, node_zone_id: str) -> None:
        super().__init__(scope, id)
        self._subnet_ids = list(config.control_plane_subnet_ids)
        if self._subnet_ids:
            return
        zones = config.control_plane_zone_ids or control_plane_zones(node_zone_id)
        for number, (zone, cidr) in enumerate(zip(zones, config.control_plane_cidrs, strict=True), 1):
            subnet = ec2.CfnSubnet(
                self,
                f"Subnet{number}",
                vpc_id=network.vpc_id,
                availability_zone_id=zone,
                cidr_block=str(cidr),
                map_public_ip_on_launch=False,
            )
            cdk.Tags.of(subnet).add("Name", subnet.node.path)
            # A weak reference is resolved again only if the template changes (docs/adr/0003-weak-references.md).
            cdk.Tags.of(subnet).add(NETWORK_TAG, network.identity)
            self._subnet_ids.append(subnet.ref)
        if network.cleanup:
            network.cleanup.before_deletion_of(self._subnet_ids, self)

    @property
    def subnet_ids(self) -> list[str]:
        """The IDs of the subnets."""
        return self._subnet_ids
