"""EC2: route tables and routes, addresses and NAT gateways."""

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.ec2 import retag, tag_specification
from local_aws.cloudformation.resources.provider import Context, Provider, pick, tolerate
from local_aws.cloudformation.template import Json

ROUTE_ARGUMENTS = ("RouteTableId", "DestinationCidrBlock", "GatewayId", "NatGatewayId")


class RouteTable(Provider):
    """AWS::EC2::RouteTable."""

    type = "AWS::EC2::RouteTable"
    acts_on = ("Tags", "VpcId")

    def create(self, context: Context, properties: Json) -> str:
        """Create the table and return its id."""
        tags = tag_specification(context, "route-table", properties)
        answer = context.client("ec2").create_route_table(VpcId=properties["VpcId"], TagSpecifications=tags)
        return str(answer["RouteTable"]["RouteTableId"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the table's id."""
        return {"RouteTableId": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the tags."""
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the table."""
        with tolerate("InvalidRouteTableID.NotFound"):
            context.client("ec2").delete_route_table(RouteTableId=physical_id)


class Route(Provider):
    """AWS::EC2::Route, to an internet or a NAT gateway."""

    type = "AWS::EC2::Route"
    acts_on = ROUTE_ARGUMENTS

    def create(self, context: Context, properties: Json) -> str:
        """Add the route and return an id in AWS's form."""
        context.client("ec2").create_route(**pick(properties, *ROUTE_ARGUMENTS))
        return f"{properties['RouteTableId']}|{properties['DestinationCidrBlock']}"

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the route's range."""
        return {"CidrBlock": properties["DestinationCidrBlock"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the target of the route."""
        context.client("ec2").replace_route(**pick(properties, *ROUTE_ARGUMENTS))

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the route."""
        table, destination = physical_id.split("|")
        with tolerate("InvalidRoute.NotFound", "InvalidRouteTableID.NotFound"):
            context.client("ec2").delete_route(RouteTableId=table, DestinationCidrBlock=destination)


class SubnetRouteTableAssociation(Provider):
    """AWS::EC2::SubnetRouteTableAssociation."""

    type = "AWS::EC2::SubnetRouteTableAssociation"
    acts_on = ("RouteTableId", "SubnetId")

    def create(self, context: Context, properties: Json) -> str:
        """Associate the subnet with the table and return the association's id."""
        answer = context.client("ec2").associate_route_table(**pick(properties, "RouteTableId", "SubnetId"))
        return str(answer["AssociationId"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the association's id."""
        return {"Id": physical_id}

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Remove the association; the subnet uses the main table again."""
        with tolerate("InvalidAssociationID.NotFound"):
            context.client("ec2").disassociate_route_table(AssociationId=physical_id)


class ElasticIp(Provider):
    """AWS::EC2::EIP, for use in a VPC."""

    type = "AWS::EC2::EIP"
    acts_on = ("Domain", "Tags")

    def create(self, context: Context, properties: Json) -> str:
        """Allocate an address and return it."""
        if properties.get("Domain", "vpc") != "vpc":
            raise ResourceError(f"not part of the embedded AWS: AWS::EC2::EIP Domain {properties['Domain']}")
        tags = tag_specification(context, "elastic-ip", properties)
        return str(context.client("ec2").allocate_address(Domain="vpc", TagSpecifications=tags)["PublicIp"])

    def _allocation(self, context: Context, address: str) -> str:
        return str(context.client("ec2").describe_addresses(PublicIps=[address])["Addresses"][0]["AllocationId"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the address and its allocation."""
        return {"AllocationId": self._allocation(context, physical_id), "PublicIp": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the tags."""
        retag(context, self._allocation(context, physical_id), properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Release the address."""
        with tolerate("InvalidAddress.NotFound", "InvalidAllocationID.NotFound"):
            context.client("ec2").release_address(AllocationId=self._allocation(context, physical_id))


class NatGateway(Provider):
    """AWS::EC2::NatGateway."""

    type = "AWS::EC2::NatGateway"
    acts_on = ("AllocationId", "ConnectivityType", "SubnetId", "Tags")

    def create(self, context: Context, properties: Json) -> str:
        """Create the gateway and return its id."""
        answer = context.client("ec2").create_nat_gateway(
            **pick(properties, "AllocationId", "ConnectivityType", "SubnetId"),
            TagSpecifications=tag_specification(context, "natgateway", properties),
        )
        return str(answer["NatGateway"]["NatGatewayId"])

    def settle(self, context: Context, physical_id: str, properties: Json) -> None:
        """Wait until the gateway is available."""
        context.until(lambda: True if self._state(context, physical_id) == "available" else None)

    def _state(self, context: Context, gateway_id: str) -> str:
        gateways = context.client("ec2").describe_nat_gateways(NatGatewayIds=[gateway_id])["NatGateways"]
        return str(gateways[0]["State"]) if gateways else "deleted"

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the gateway's id."""
        return {"NatGatewayId": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the tags."""
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the gateway and wait until it is gone: it keeps its address and subnet in use until then."""
        with tolerate("NatGatewayNotFound", "InvalidNatGatewayID.NotFound"):
            context.client("ec2").delete_nat_gateway(NatGatewayId=physical_id)
            context.until(lambda: True if self._state(context, physical_id) == "deleted" else None)


PROVIDERS = (RouteTable(), Route(), SubnetRouteTableAssociation(), ElasticIp(), NatGateway())
