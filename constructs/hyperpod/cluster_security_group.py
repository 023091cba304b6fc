"""The security group of the nodes and the file system."""

from typing import Any

from aws_cdk import CfnResource, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

ALL = "-1"


class ClusterSecurityGroup(Construct):
    """Define a security group whose members reach each other freely and the outside by their own doing alone.

    EFA needs the rules to itself in both directions, spelled out: the CDK's own `SecurityGroup` drops the outbound one where
    all outbound traffic is allowed. They also are all that Lustre needs (988 and 1018-1023), and nothing outside reaches it.
    """

    def __init__(self, scope: Construct, id: str, *, vpc_id: str) -> None:
        super().__init__(scope, id)
        self.resource = ec2.CfnSecurityGroup(
            self,
            "Resource",
            vpc_id=vpc_id,
            group_description="Nodes and file system of a HyperPod cluster",
            security_group_egress=[
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol=ALL, cidr_ip="0.0.0.0/0", description="Nodes reach AWS and package repositories"
                )
            ],
        )
        Tags.of(self.resource).add("Name", self.node.path)
        self.rules: tuple[CfnResource, ...] = (
            ec2.CfnSecurityGroupIngress(self, "FromSelf", source_security_group_id=self.group_id, **self._from_members()),
            ec2.CfnSecurityGroupEgress(self, "ToSelf", destination_security_group_id=self.group_id, **self._from_members()),
        )

    @property
    def group_id(self) -> str:
        """The group's id."""
        return self.resource.attr_group_id

    def _from_members(self) -> dict[str, Any]:
        return {"group_id": self.group_id, "ip_protocol": ALL, "description": "Members of the cluster, EFA and Lustre included"}
