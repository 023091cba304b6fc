"""The Network stack with a new network."""

import pytest

from tests.synth.synthesized import NETWORK, StackTemplate, Synthesized

ALL_TRAFFIC = "-1"


@pytest.fixture
def network(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", NETWORK]


def test_the_node_subnet_depends_on_its_cidr_block(network: StackTemplate) -> None:
    node_range, _ = network.one("AWS::EC2::VPCCidrBlock")
    subnet, _ = network.one("AWS::EC2::Subnet", named="NodeSubnet")
    assert node_range in network.waits_for(subnet)


@pytest.mark.fault(54)
@pytest.mark.parametrize(
    ("rule", "other_end"),
    [
        ("AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId"),
        ("AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId"),
    ],
)
def test_members_of_the_group_reach_each_other_in_both_directions(network: StackTemplate, rule: str, other_end: str) -> None:
    group, _ = network.one("AWS::EC2::SecurityGroup")
    properties = network.properties(rule)
    assert properties["IpProtocol"] == ALL_TRAFFIC
    assert properties["GroupId"] == properties[other_end] == {"Fn::GetAtt": [group, "GroupId"]}


def test_ingress_is_allowed_only_within_the_group(network: StackTemplate) -> None:
    assert "SecurityGroupIngress" not in network.properties("AWS::EC2::SecurityGroup")
    assert len(network.of_type("AWS::EC2::SecurityGroupIngress")) == 1
    assert not {"CidrIp", "CidrIpv6", "SourcePrefixListId"} & network.properties("AWS::EC2::SecurityGroupIngress").keys()


def test_the_nat_gateway_depends_on_its_route_to_the_internet(network: StackTemplate) -> None:
    gateway, _ = network.one("AWS::EC2::NatGateway")
    before = {network.resources[name]["Type"].removeprefix("AWS::EC2::") for name in network.waits_for(gateway)}
    assert {"EIP", "VPCGatewayAttachment", "Route", "SubnetRouteTableAssociation"} <= before


def test_the_s3_endpoint_allows_unsigned_reads_of_package_repositories(network: StackTemplate) -> None:
    endpoint = network.properties("AWS::EC2::VPCEndpoint", named="S3")
    reading = endpoint["PolicyDocument"]["Statement"][0]
    assert "s3:GetObject*" in reading["Action"]
    assert "Condition" not in reading


CLEANUP = "Custom::HyperPodNetworkCleanup"


def _below(stack: StackTemplate, logical_id: str) -> set[str]:
    """Return the types and names of what CloudFormation deletes after the resource."""
    return {f"{stack.resources[each]['Type']} {each.rstrip('0123456789ABCDEF')}" for each in stack.waits_for(logical_id)}


def test_a_vpc_that_is_deleted_is_cleaned_up_before_its_subnets_and_groups(variants: Synthesized) -> None:
    network = variants["destroyed", NETWORK]
    cleanup, resource = network.one(CLEANUP)
    assert resource["Properties"]["DeletesVpc"] is True
    assert resource["Properties"]["Cluster"] == "destroyed"
    assert {
        "AWS::EC2::VPC NetworkNodeNetworkVpc",
        "AWS::EC2::Subnet NetworkNodeNetworkNodeSubnet",
        "AWS::EC2::Subnet NetworkInternetAccessPublicSubnet",
        "AWS::EC2::SecurityGroup NetworkNodeNetworkSecurityGroup",
    } <= _below(network, cleanup)


def test_a_vpc_that_is_retained_is_cleaned_up_only_in_the_subnet_that_is_deleted(network: StackTemplate) -> None:
    properties = network.properties(CLEANUP)
    public, _ = network.one("AWS::EC2::Subnet", named="PublicSubnet")
    assert (properties["DeletesVpc"], properties["SubnetIds"]) == (False, [{"Ref": public}])


@pytest.mark.parametrize("variant", ["existing-network", "internet-access"])
def test_a_vpc_of_others_is_never_cleaned_up(variants: Synthesized, variant: str) -> None:
    assert variants[variant, NETWORK].of_type(CLEANUP) == {}


def test_the_cleanup_may_delete_only_what_guardduty_tags_and_groups_only_in_the_vpc(network: StackTemplate) -> None:
    _, role = network.one("AWS::IAM::Role", named="CleanupFunction")
    [policy] = role["Properties"]["Policies"]
    deleting = {each["Action"]: each for each in policy["PolicyDocument"]["Statement"] if "Delete" in str(each["Action"])}
    assert deleting.keys() == {"ec2:DeleteVpcEndpoints", "ec2:DeleteSecurityGroup"}
    tagged = {"StringEquals": {"aws:ResourceTag/GuardDutyManaged": "true"}}
    service = {"ec2:VpceServiceName": [f"com.amazonaws.us-west-2.guardduty-data{end}" for end in ("", "-fips")]}
    assert deleting["ec2:DeleteVpcEndpoints"]["Condition"] == {"StringEquals": {**tagged["StringEquals"], **service}}
    vpc, _ = network.one("AWS::EC2::VPC")
    condition = dict(deleting["ec2:DeleteSecurityGroup"]["Condition"])
    assert {"Ref": vpc} in condition.pop("ArnEquals")["ec2:Vpc"]["Fn::Join"][1]
    assert condition == tagged
