"""The nodes' way to the internet, to S3 and to DynamoDB."""

from collections.abc import Sequence

from aws_cdk import Aws, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.network import NetworkConfig

ANYWHERE = "0.0.0.0/0"


class InternetAccess(Construct):
    """Define a NAT gateway in a public subnet, gateway endpoints, and the routes of private subnets to them."""

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, vpc_id: str, subnet_ids: Sequence[str]) -> None:
        super().__init__(scope, id)
        self._vpc_id = vpc_id
        nat = self._nat_gateway(self._public_subnet(config))
        routes = self._route_table("NodeRoutes")
        ec2.CfnRoute(self, "ToInternet", route_table_id=routes.ref, destination_cidr_block=ANYWHERE, nat_gateway_id=nat.ref)
        links = Construct(self, "NodeSubnets")
        for number, subnet_id in enumerate(subnet_ids, 1):
            ec2.CfnSubnetRouteTableAssociation(links, f"Subnet{number}", subnet_id=subnet_id, route_table_id=routes.ref)
        self._endpoint("S3", "s3", routes, _s3_policy())
        self._endpoint("DynamoDb", "dynamodb", routes, _dynamodb_policy())

    def _public_subnet(self, config: NetworkConfig) -> ec2.CfnSubnet:
        gateway = ec2.CfnInternetGateway(self, "Gateway")
        attached = ec2.CfnVPCGatewayAttachment(self, "Attachment", vpc_id=self._vpc_id, internet_gateway_id=gateway.ref)
        subnet = ec2.CfnSubnet(
            self,
            "PublicSubnet",
            vpc_id=self._vpc_id,
            cidr_block=str(config.public_subnet_cidr),
            availability_zone_id=config.availability_zone_id,
        )
        Tags.of(subnet).add("Name", subnet.node.path)
        routes = self._route_table("PublicRoutes")
        route = ec2.CfnRoute(
            self, "PublicToInternet", route_table_id=routes.ref, destination_cidr_block=ANYWHERE, gateway_id=gateway.ref
        )
        route.add_resource_dependency(attached)
        ec2.CfnSubnetRouteTableAssociation(self, "PublicSubnetRoutes", subnet_id=subnet.ref, route_table_id=routes.ref)
        self._public_route = route
        return subnet

    def _nat_gateway(self, subnet: ec2.CfnSubnet) -> ec2.CfnNatGateway:
        address = ec2.CfnEIP(self, "Address", domain="vpc")
        nat = ec2.CfnNatGateway(self, "NatGateway", subnet_id=subnet.ref, allocation_id=address.attr_allocation_id)
        address.add_resource_dependency(self._public_route)
        nat.add_resource_dependency(self._public_route)
        return nat

    def _route_table(self, id: str) -> ec2.CfnRouteTable:
        table = ec2.CfnRouteTable(self, id, vpc_id=self._vpc_id)
        Tags.of(table).add("Name", table.node.path)
        return table

    def _endpoint(self, id: str, service: str, routes: ec2.CfnRouteTable, policy: iam.PolicyDocument) -> None:
        ec2.CfnVPCEndpoint(
            self,
            id,
            vpc_id=self._vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{Aws.REGION}.{service}",
            route_table_ids=[routes.ref],
            policy_document=policy,
        )


def _s3_policy() -> iam.PolicyDocument:
    """Reading stays open, as package repositories, container layers and AWS's own buckets are others'; writing does not."""
    return iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(
                sid="ReadAnywhere",
                principals=[iam.AnyPrincipal()],
                actions=["s3:GetObject*", "s3:ListBucket*", "s3:GetBucketLocation"],
                resources=["*"],
            ),
            _all_in_this_account("s3"),
        ]
    )


def _dynamodb_policy() -> iam.PolicyDocument:
    return iam.PolicyDocument(statements=[_all_in_this_account("dynamodb")])


def _all_in_this_account(service: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid="AllInThisAccount",
        principals=[iam.AnyPrincipal()],
        actions=[f"{service}:*"],
        resources=["*"],
        conditions={"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}},
    )
