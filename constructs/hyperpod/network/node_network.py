"""The part of the network that a file system's interfaces hold."""

from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from config.network import NetworkConfig

ALL_TRAFFIC = "-1"


class NodeNetwork(Construct):
    """Define the VPC with the nodes' range, their private subnet and the group that nodes and file system share.

    The subnets are L1: HyperPod's and FSx's capacity is bound to a zone's id, which ``ec2.Vpc`` cannot take.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, removal: cdk.RemovalPolicy) -> None:
        super().__init__(scope, id)
        self._vpc = ec2.CfnVPC(self, "Vpc", cidr_block=str(config.vpc_cidr), enable_dns_hostnames=True, enable_dns_support=True)
        node_range = ec2.CfnVPCCidrBlock(self, "NodeRange", vpc_id=self.vpc_id, cidr_block=str(config.node_cidr))
        self._subnet = ec2.CfnSubnet(
            self,
            "NodeSubnet",
            vpc_id=self.vpc_id,
            availability_zone_id=config.availability_zone_id,
            cidr_block=str(config.node_cidr),
            map_public_ip_on_launch=False,
        )
        self._subnet.add_resource_dependency(node_range)
        self._security_group = ec2.CfnSecurityGroup(
            self,
            "SecurityGroup",
            group_description="HyperPod nodes and their file system",
            vpc_id=self.vpc_id,
            # Without this, AWS adds the same rule itself; nodes reach package repositories and AWS's own endpoints.
            security_group_egress=[
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol=ALL_TRAFFIC, cidr_ip="0.0.0.0/0", description="packages, S3 and AWS APIs"
                )
            ],
        )
        for resource in (self._vpc, node_range, self._subnet, self._security_group, *self._self_rules()):
            resource.apply_removal_policy(removal)
        for resource in (self._vpc, self._subnet, self._security_group):
            cdk.Tags.of(resource).add("Name", resource.node.path)

    @cached_property
    def vpc_id(self) -> str:
        """The VPC's id."""
        return self._vpc.ref

    @cached_property
    def node_subnet_ids(self) -> list[str]:
        """The id of the one private subnet, in a list."""
        return [self._subnet.ref]

    @cached_property
    def security_group_id(self) -> str:
        """The id of the shared group."""
        return self._security_group.attr_group_id

    def _self_rules(self) -> tuple[cdk.CfnResource, cdk.CfnResource]:
        """All traffic between members of the group, in both directions.

        EFA needs both rules to name the group itself (a range will not do), and they hold Lustre's ports (988, 1018-1023), which
        are open to nobody else. They are resources of their own because a group cannot refer to itself.
        """
        description = "EFA, Slurm and Lustre between members of the group"
        ingress = ec2.CfnSecurityGroupIngress(
            self,
            "SelfIngress",
            group_id=self.security_group_id,
            ip_protocol=ALL_TRAFFIC,
            source_security_group_id=self.security_group_id,
            description=description,
        )
        egress = ec2.CfnSecurityGroupEgress(
            self,
            "SelfEgress",
            group_id=self.security_group_id,
            ip_protocol=ALL_TRAFFIC,
            destination_security_group_id=self.security_group_id,
            description=description,
        )
        return ingress, egress
