"""The Network stack with an existing network."""

from aws_cdk.assertions import Match

from tests.synth.synthesized import CLUSTER, NETWORK, STORAGE, Synthesized
from tests.synth.variants import EXISTING_NETWORK, TWO_SUBNETS


def test_an_existing_network_is_not_changed(variants: Synthesized) -> None:
    network = variants["existing-network", NETWORK]
    assert [resource["Type"] for resource in network.resources.values()] == ["AWS::CloudFormation::WaitConditionHandle"]
    assert network.outputs == {
        "VpcId": EXISTING_NETWORK["vpc_id"],
        "NodeSubnetIds": ",".join(TWO_SUBNETS),
        "SecurityGroupId": EXISTING_NETWORK["security_group_id"],
    }


def test_the_file_system_is_in_the_first_existing_subnet(variants: Synthesized) -> None:
    file_system = variants["existing-network", STORAGE].properties("AWS::FSx::FileSystem")
    assert file_system["SubnetIds"] == TWO_SUBNETS[:1]
    assert file_system["SecurityGroupIds"] == [EXISTING_NETWORK["security_group_id"]]


def test_nodes_use_all_existing_subnets(variants: Synthesized) -> None:
    request = variants["existing-network", CLUSTER].properties("Custom::HyperPodCluster")["Request"]
    assert request["VpcConfig"] == {"SecurityGroupIds": [EXISTING_NETWORK["security_group_id"]], "Subnets": TWO_SUBNETS}


def test_internet_access_can_be_added_to_existing_subnets(variants: Synthesized) -> None:
    network = variants["internet-access", NETWORK]
    vpc = EXISTING_NETWORK["vpc_id"]
    gateway, _ = network.one("AWS::EC2::NatGateway")
    routes, _ = network.one("AWS::EC2::RouteTable", named="NodeRoutes")
    network.assertions.has_resource_properties(
        "AWS::EC2::Route", {"RouteTableId": {"Ref": routes}, "NatGatewayId": {"Ref": gateway}}
    )
    for subnet in TWO_SUBNETS:
        network.assertions.has_resource_properties(
            "AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": subnet, "RouteTableId": {"Ref": routes}}
        )
    network.assertions.has_resource_properties("AWS::EC2::VPCGatewayAttachment", {"VpcId": vpc})
    network.assertions.all_resources_properties("AWS::EC2::RouteTable", {"VpcId": vpc})
    network.assertions.all_resources_properties(
        "AWS::EC2::VPCEndpoint", {"VpcId": vpc, "RouteTableIds": Match.array_equals([{"Ref": routes}])}
    )
    network.assertions.resource_count_is("AWS::EC2::VPCEndpoint", 2)
    network.assertions.has_resource_properties("AWS::EC2::FlowLog", {"ResourceId": vpc})


def test_internet_access_creates_no_vpc_node_subnet_or_security_group(variants: Synthesized) -> None:
    network = variants["internet-access", NETWORK]
    assert not network.of_type("AWS::EC2::VPC", "AWS::EC2::VPCCidrBlock", "AWS::EC2::SecurityGroup")
    subnet, _ = network.one("AWS::EC2::Subnet")
    assert "PublicSubnet" in subnet
