"""Define the part of the network that a file system uses."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from config.network import NetworkConfig

ALL_TRAFFIC = "-1"


class NodeNetwork(Construct):
    """Define the VPC, the nodes' private subnet, and the security group of nodes and file system.

    Subnets are L1 constructs: HyperPod and FSx capacity is tied to an availability zone ID, which ``ec2.Vpc`` does not support.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, removal: cdk.RemovalPolicy) -> None:
        super().__init__(scope, id)
        vpc = ec2.CfnVPC(self, "Vpc", cidr_block=str(config.vpc_cidr), enable_dns_hostnames=True, enable_dns_support=True)
        self.vpc_id = vpc.ref
        node_range = ec2.CfnVPCCidrBlock(self, "NodeRange", vpc_id=self.vpc_id, cidr_block=str(config.node_cidr))
        subnet = ec2.CfnSubnet(
            self,
            "NodeSubnet",
            vpc_id=self.vpc_id,
            availability_zone_id=config.availability_zone_id,
            cidr_block=str(config.node_cidr),
            map_public_ip_on_launch=False,
        )
        subnet.add_resource_dependency(node_range)
        group = ec2.CfnSecurityGroup(
            self,
            "SecurityGroup",
            group_description="HyperPod nodes and their file system",
            vpc_id=self.vpc_id,
            # The default rule, made explicit: nodes need package repositories and AWS endpoints.
            security_group_egress=[
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol=ALL_TRAFFIC, cidr_ip="0.0.0.0/0", description="packages, S3 and AWS APIs"
                )
            ],
        )
        self.node_subnet_ids = [subnet.ref]
        self.security_group_id = group.attr_group_id
        for resource in (vpc, node_range, subnet, group, *self._self_rules()):
            resource.apply_removal_policy(removal)
        for resource in (vpc, subnet, group):
            cdk.Tags.of(resource).add("Name", resource.node.path)

    def _self_rules(self) -> tuple[cdk.CfnResource, cdk.CfnResource]:
        """Allow all traffic between members of the group, in both directions.

        EFA requires both rules to name the group itself, not an address range. They include Lustre's ports (988, 1018-1023).
        They are separate resources because a group cannot refer to itself.
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
