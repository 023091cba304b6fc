"""Define internet access for private subnets."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.network import NetworkConfig

ANYWHERE = "0.0.0.0/0"
# Nodes read from buckets of other accounts: package repositories, container layers, AWS services. Some of these reads are
# unsigned, so a policy cannot restrict their principal.
READS = {
    "s3": ["s3:GetObject*", "s3:GetBucketLocation", "s3:ListBucket*"],
    "dynamodb": ["dynamodb:BatchGetItem", "dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"],
}


class InternetAccess(Construct):
    """Define gateways, routes and endpoints for private subnets, which may be imported.

    A single NAT gateway is enough: all nodes are in one zone.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, vpc_id: str, node_subnets: Mapping[str, str]) -> None:
        super().__init__(scope, id)
        nat_gateway = self._nat_gateway(config, vpc_id)
        routes = ec2.CfnRouteTable(self, "NodeRoutes", vpc_id=vpc_id)
        ec2.CfnRoute(
            self,
            "NodeRoute",
            route_table_id=routes.ref,
            destination_cidr_block=ANYWHERE,
            nat_gateway_id=nat_gateway.ref,
        )
        for name, subnet_id in node_subnets.items():
            ec2.CfnSubnetRouteTableAssociation(self, f"{name}Routes", route_table_id=routes.ref, subnet_id=subnet_id)
        GatewayEndpoints(self, "Endpoints", vpc_id=vpc_id, route_table_id=routes.ref)

    def _nat_gateway(self, config: NetworkConfig, vpc_id: str) -> ec2.CfnNatGateway:
        """Define a NAT gateway in a public subnet; it is deleted before the address and the routes that it uses."""
        internet_gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(self, "Attachment", vpc_id=vpc_id, internet_gateway_id=internet_gateway.ref)
        self.public_subnet = subnet = ec2.CfnSubnet(
            self,
            "PublicSubnet",
            vpc_id=vpc_id,
            availability_zone_id=config.availability_zone_id,
            cidr_block=str(config.public_subnet_cidr),
            map_public_ip_on_launch=False,
        )
        routes = ec2.CfnRouteTable(self, "PublicRoutes", vpc_id=vpc_id)
        route = ec2.CfnRoute(
            self,
            "PublicRoute",
            route_table_id=routes.ref,
            destination_cidr_block=ANYWHERE,
            gateway_id=internet_gateway.ref,
        )
        association = ec2.CfnSubnetRouteTableAssociation(
            self, "PublicSubnetRoutes", route_table_id=routes.ref, subnet_id=subnet.attr_subnet_id
        )
        address = ec2.CfnEIP(self, "Address", domain="vpc")
        nat_gateway = ec2.CfnNatGateway(self, "NatGateway", subnet_id=subnet.ref, allocation_id=address.attr_allocation_id)
        route.add_resource_dependency(attachment)
        address.add_resource_dependency(attachment)
        nat_gateway.add_resource_dependency(route)
        nat_gateway.add_resource_dependency(association)
        for resource in (subnet, address, nat_gateway):
            cdk.Tags.of(resource).add("Name", resource.node.path)
        return nat_gateway


class GatewayEndpoints(Construct):
    """Define gateway endpoints for S3 and DynamoDB, which bypass the NAT gateway and allow writes only within this account."""

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, route_table_id: str) -> None:
        super().__init__(scope, id)
        for name, service in (("S3", "s3"), ("DynamoDb", "dynamodb")):
            ec2.CfnVPCEndpoint(
                self,
                name,
                vpc_id=vpc_id,
                service_name=f"com.amazonaws.{cdk.Stack.of(self).region}.{service}",
                vpc_endpoint_type="Gateway",
                route_table_ids=[route_table_id],
                policy_document=_policy(service),
            )


def _policy(service: str) -> iam.PolicyDocument:
    return iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(sid="AllowReads", principals=[iam.AnyPrincipal()], actions=READS[service], resources=["*"]),
            iam.PolicyStatement(
                sid="AllowSameAccountAccess",
                principals=[iam.AnyPrincipal()],
                actions=[f"{service}:*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceAccount": cdk.Aws.ACCOUNT_ID}},
            ),
        ]
    )
