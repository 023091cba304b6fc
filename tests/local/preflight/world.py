"""An account in which a cluster can be deployed, and what spoils it."""

import json
from dataclasses import dataclass
from typing import Any

from local_aws import iam
from local_aws.testing import ACCOUNT, REGION, Client
from tests.local.other_network import OtherNetwork, make_other_file_system, make_other_network

EXECUTION = f"cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"
ANYBODY = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "sts:AssumeRole"}


def document(*statements: dict[str, Any]) -> str:
    """A policy with these statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@dataclass
class World:
    """The account, by clients of its owner's."""

    client: Client

    def bootstrap(self, version: str = "30") -> None:
        """Make what `cdk bootstrap` makes, as far as a preflight looks."""
        self.client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value=version, Type="String")
        self.make_bucket(f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}")
        self.make_role(EXECUTION, {"Effect": "Allow", "Action": "*", "Resource": "*"})

    def make_bucket(self, name: str) -> None:
        """Make a bucket in the region."""
        self.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})

    def make_role(self, name: str, *statements: dict[str, Any]) -> str:
        """Make a role that anybody in the account may take on, with these statements."""
        api = self.client("iam")
        arn = api.create_role(RoleName=name, AssumeRolePolicyDocument=document(ANYBODY))["Role"]["Arn"]
        if statements:
            api.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=document(*statements))
        return str(arn)

    def session_of(self, role_arn: str) -> dict[str, str]:
        """Variables with which a process acts as the role, and is held to its policies."""
        made = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName="me")["Credentials"]
        iam.sessions.enforce(
            iam.Session(ACCOUNT, role_arn, "me", made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
        )
        return {
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
            "AWS_SESSION_TOKEN": made["SessionToken"],
        }

    def make_network(self, zone_id: str = "usw2-az4") -> OtherNetwork:
        """Make a VPC with a subnet, whose default route is a NAT gateway, and a security group, as nodes need them."""
        made = make_other_network(self.client, zone_id)
        ec2 = self.client("ec2")
        ec2.modify_vpc_attribute(VpcId=made.vpc, EnableDnsHostnames={"Value": True})
        public = ec2.create_subnet(VpcId=made.vpc, CidrBlock="10.0.200.0/24", AvailabilityZoneId=zone_id)["Subnet"]["SubnetId"]
        address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        gateway = ec2.create_nat_gateway(SubnetId=public, AllocationId=address)["NatGateway"]["NatGatewayId"]
        table = ec2.create_route_table(VpcId=made.vpc)["RouteTable"]["RouteTableId"]
        ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=gateway)
        ec2.associate_route_table(RouteTableId=table, SubnetId=made.subnet)
        return made

    def make_file_system(self, network: OtherNetwork) -> dict[str, str]:
        """Make a Lustre file system there; what a cluster file names of it."""
        return make_other_file_system(self.client, network)
