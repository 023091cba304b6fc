"""EC2: VPCs, their address ranges, subnets and internet gateways."""

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.ec2 import retag, tag_specification
from local_aws.cloudformation.resources.provider import Context, Provider, tolerate
from local_aws.cloudformation.template import Json


class Vpc(Provider):
    """AWS::EC2::VPC."""

    type = "AWS::EC2::VPC"
    acts_on = ("CidrBlock", "EnableDnsHostnames", "EnableDnsSupport", "InstanceTenancy", "Tags")

    def create(self, context: Context, properties: Json) -> str:
        """Create the VPC and return its id."""
        answer = context.client("ec2").create_vpc(
            CidrBlock=properties["CidrBlock"],
            InstanceTenancy=properties.get("InstanceTenancy", "default"),
            TagSpecifications=tag_specification(context, "vpc", properties),
        )
        vpc_id = str(answer["Vpc"]["VpcId"])
        context.identify(vpc_id)
        self._set_dns(context, vpc_id, properties)
        return vpc_id

    def _set_dns(self, context: Context, vpc_id: str, properties: Json) -> None:
        for name in ("EnableDnsSupport", "EnableDnsHostnames"):
            if name in properties:
                context.client("ec2").modify_vpc_attribute(VpcId=vpc_id, **{name: {"Value": properties[name]}})

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the id, ranges, default group and default network ACL."""
        ec2, of_vpc = context.client("ec2"), {"Name": "vpc-id", "Values": [physical_id]}
        groups = ec2.describe_security_groups(Filters=[of_vpc, {"Name": "group-name", "Values": ["default"]}])["SecurityGroups"]
        lists = ec2.describe_network_acls(Filters=[of_vpc, {"Name": "default", "Values": ["true"]}])["NetworkAcls"]
        vpc = ec2.describe_vpcs(VpcIds=[physical_id])["Vpcs"][0]
        return {
            "VpcId": physical_id,
            "CidrBlock": vpc["CidrBlock"],
            "CidrBlockAssociations": [one["AssociationId"] for one in vpc.get("CidrBlockAssociationSet", ())],
            "DefaultSecurityGroup": groups[0]["GroupId"],
            "DefaultNetworkAcl": lists[0]["NetworkAclId"],
            "Ipv6CidrBlocks": [],
        }

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the DNS settings and tags."""
        if properties.get("InstanceTenancy") != before.get("InstanceTenancy"):
            raise ResourceError("not part of the embedded AWS: a change of AWS::EC2::VPC InstanceTenancy")
        self._set_dns(context, physical_id, {"EnableDnsSupport": True, "EnableDnsHostnames": False} | properties)
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the VPC."""
        with tolerate("InvalidVpcID.NotFound"):
            context.client("ec2").delete_vpc(VpcId=physical_id)


class VpcCidrBlock(Provider):
    """AWS::EC2::VPCCidrBlock, for IPv4."""

    type = "AWS::EC2::VPCCidrBlock"
    acts_on = ("CidrBlock", "VpcId")

    def create(self, context: Context, properties: Json) -> str:
        """Add the range to the VPC and return the association's id."""
        answer = context.client("ec2").associate_vpc_cidr_block(VpcId=properties["VpcId"], CidrBlock=properties["CidrBlock"])
        return str(answer["CidrBlockAssociation"]["AssociationId"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the association's id."""
        return {"Id": physical_id}

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Remove the range from the VPC."""
        with tolerate("InvalidVpcCidrBlockAssociationID.NotFound", "InvalidVpcCidrBlockAssociationIdError.NotFound"):
            context.client("ec2").disassociate_vpc_cidr_block(AssociationId=physical_id)


class Subnet(Provider):
    """AWS::EC2::Subnet."""

    type = "AWS::EC2::Subnet"
    acts_on = ("AvailabilityZone", "AvailabilityZoneId", "CidrBlock", "MapPublicIpOnLaunch", "Tags", "VpcId")

    def create(self, context: Context, properties: Json) -> str:
        """Create the subnet and return its id."""
        answer = context.client("ec2").create_subnet(
            VpcId=properties["VpcId"],
            CidrBlock=properties["CidrBlock"],
            TagSpecifications=tag_specification(context, "subnet", properties),
            **self._zone(context, properties),
        )
        subnet_id = str(answer["Subnet"]["SubnetId"])
        context.identify(subnet_id)
        self._set_public(context, subnet_id, properties)
        return subnet_id

    def _zone(self, context: Context, properties: Json) -> dict[str, str]:
        """Return the zone's name; ids are looked up, because only ids are the same in every account."""
        if "AvailabilityZoneId" not in properties:
            return {"AvailabilityZone": properties["AvailabilityZone"]} if "AvailabilityZone" in properties else {}
        zone_id = properties["AvailabilityZoneId"]
        zones = context.client("ec2").describe_availability_zones()["AvailabilityZones"]
        names = [zone["ZoneName"] for zone in zones if zone["ZoneId"] == zone_id]
        if not names:
            known = ", ".join(sorted(zone["ZoneId"] for zone in zones))
            raise ResourceError(
                f"Value ({zone_id}) for parameter availabilityZoneId is invalid. "
                f"Subnets can currently only be created in the following availability zones: {known}."
            )
        return {"AvailabilityZone": names[0]}

    def _set_public(self, context: Context, subnet_id: str, properties: Json) -> None:
        public = properties.get("MapPublicIpOnLaunch", False)
        context.client("ec2").modify_subnet_attribute(SubnetId=subnet_id, MapPublicIpOnLaunch={"Value": public})

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the id, VPC, zone and range."""
        subnet = context.client("ec2").describe_subnets(SubnetIds=[physical_id])["Subnets"][0]
        names = ("VpcId", "AvailabilityZone", "AvailabilityZoneId", "CidrBlock")
        return {"SubnetId": physical_id, "Ipv6CidrBlocks": [], **{name: subnet[name] for name in names}}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the public addressing and tags."""
        self._set_public(context, physical_id, properties)
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the subnet."""
        with tolerate("InvalidSubnetID.NotFound"):
            context.client("ec2").delete_subnet(SubnetId=physical_id)


class InternetGateway(Provider):
    """AWS::EC2::InternetGateway."""

    type = "AWS::EC2::InternetGateway"
    acts_on = ("Tags",)

    def create(self, context: Context, properties: Json) -> str:
        """Create the gateway and return its id."""
        tags = tag_specification(context, "internet-gateway", properties)
        return str(context.client("ec2").create_internet_gateway(TagSpecifications=tags)["InternetGateway"]["InternetGatewayId"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the gateway's id."""
        return {"InternetGatewayId": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the tags."""
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the gateway."""
        with tolerate("InvalidInternetGatewayID.NotFound"):
            context.client("ec2").delete_internet_gateway(InternetGatewayId=physical_id)


class VpcGatewayAttachment(Provider):
    """AWS::EC2::VPCGatewayAttachment, of an internet gateway."""

    type = "AWS::EC2::VPCGatewayAttachment"
    acts_on = ("InternetGatewayId", "VpcId")

    def create(self, context: Context, properties: Json) -> str:
        """Attach the gateway; an id in AWS's form."""
        context.client("ec2").attach_internet_gateway(
            VpcId=properties["VpcId"], InternetGatewayId=properties["InternetGatewayId"]
        )
        return f"IGW|{properties['VpcId']}"

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the type of the gateway."""
        return {"AttachmentType": "IGW"}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Attach another gateway instead."""
        self.delete(context, physical_id, before)
        self.create(context, properties)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Detach the gateway."""
        with tolerate("Gateway.NotAttached", "InvalidInternetGatewayID.NotFound"):
            context.client("ec2").detach_internet_gateway(
                VpcId=properties["VpcId"], InternetGatewayId=properties["InternetGatewayId"]
            )


PROVIDERS = (Vpc(), VpcCidrBlock(), Subnet(), InternetGateway(), VpcGatewayAttachment())
