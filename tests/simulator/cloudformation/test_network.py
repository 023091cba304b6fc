"""A network of every part that ours has: made, looked at, and deleted without a trace."""

from typing import Any

import pytest

from tests.simulator.cloudformation.conftest import World

pytestmark = pytest.mark.local


def _network(**changes: Any) -> dict[str, Any]:
    anywhere = {"DestinationCidrBlock": "0.0.0.0/0"}
    rule = {"IpProtocol": "-1", "GroupId": {"Fn::GetAtt": ["Group", "GroupId"]}}
    itself = {"Fn::GetAtt": ["Group", "GroupId"]}
    statement = [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}]
    delivery = {
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Effect": "Allow",
        "Resource": {"Fn::GetAtt": ["Logs", "Arn"]},
    }
    trust = {"Effect": "Allow", "Principal": {"Service": "vpc-flow-logs.amazonaws.com"}, "Action": "sts:AssumeRole"}
    vpc = {"VpcId": {"Ref": "Vpc"}}
    resources: dict[str, Any] = {
        "Vpc": ("EC2::VPC", {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True, "EnableDnsSupport": True}),
        "Range": ("EC2::VPCCidrBlock", {**vpc, "CidrBlock": "10.1.0.0/16"}),
        "Nodes": ("EC2::Subnet", {**vpc, "CidrBlock": "10.1.0.0/16", "AvailabilityZoneId": "usw2-az3"}),
        "Public": ("EC2::Subnet", {**vpc, "CidrBlock": "10.0.0.0/24", "AvailabilityZoneId": "usw2-az3"}),
        "Gateway": ("EC2::InternetGateway", {}),
        "Attached": ("EC2::VPCGatewayAttachment", {**vpc, "InternetGatewayId": {"Ref": "Gateway"}}),
        "Address": ("EC2::EIP", {"Domain": "vpc"}),
        "Nat": ("EC2::NatGateway", {"SubnetId": {"Ref": "Public"}, "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]}}),
        "OutTable": ("EC2::RouteTable", vpc),
        "Out": ("EC2::Route", {"RouteTableId": {"Ref": "OutTable"}, "GatewayId": {"Ref": "Gateway"}, **anywhere}),
        "OutUsed": ("EC2::SubnetRouteTableAssociation", {"RouteTableId": {"Ref": "OutTable"}, "SubnetId": {"Ref": "Public"}}),
        "NatTable": ("EC2::RouteTable", vpc),
        "ThroughNat": ("EC2::Route", {"RouteTableId": {"Ref": "NatTable"}, "NatGatewayId": {"Ref": "Nat"}, **anywhere}),
        "NatUsed": ("EC2::SubnetRouteTableAssociation", {"RouteTableId": {"Ref": "NatTable"}, "SubnetId": {"Ref": "Nodes"}}),
        "Group": ("EC2::SecurityGroup", {**vpc, "GroupDescription": "nodes", "SecurityGroupEgress": []}),
        "SelfIn": ("EC2::SecurityGroupIngress", {**rule, "SourceSecurityGroupId": itself, "Description": "itself"}),
        "SelfOut": ("EC2::SecurityGroupEgress", {**rule, "DestinationSecurityGroupId": itself}),
        "S3": (
            "EC2::VPCEndpoint",
            {
                **vpc,
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
                "VpcEndpointType": "Gateway",
                "RouteTableIds": [{"Ref": "NatTable"}],
                "PolicyDocument": {"Version": "2012-10-17", "Statement": statement},
            },
        ),
        "Ssm": (
            "EC2::VPCEndpoint",
            {
                **vpc,
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.ssm"},
                "VpcEndpointType": "Interface",
                "SubnetIds": [{"Ref": "Nodes"}],
                "SecurityGroupIds": [itself],
                "PrivateDnsEnabled": True,
            },
        ),
        "Logs": ("Logs::LogGroup", {"RetentionInDays": 30}),
        "Role": (
            "IAM::Role",
            {
                "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
                "Policies": [{"PolicyName": "p", "PolicyDocument": {"Version": "2012-10-17", "Statement": [delivery]}}],
            },
        ),
        "Flow": (
            "EC2::FlowLog",
            {
                "ResourceId": {"Ref": "Vpc"},
                "ResourceType": "VPC",
                "TrafficType": "ALL",
                "LogDestination": {"Fn::GetAtt": ["Logs", "Arn"]},
                "DeliverLogsPermissionArn": {"Fn::GetAtt": ["Role", "Arn"]},
            },
        ),
    }
    made = {name: {"Type": f"AWS::{kind}", "Properties": properties} for name, (kind, properties) in resources.items()}
    made["Nodes"]["DependsOn"] = "Range"
    made["Nat"]["DependsOn"] = made["Out"]["DependsOn"] = "Attached"
    for name, properties in changes.items():
        made[name]["Properties"] |= properties
    return made


def _seen(world: World) -> dict[str, int]:
    """How many there are of each thing; moto has a default network from the start."""
    ec2 = world.client("ec2")
    return {
        "vpcs": len(ec2.describe_vpcs()["Vpcs"]),
        "subnets": len(ec2.describe_subnets()["Subnets"]),
        "gateways": len(ec2.describe_internet_gateways()["InternetGateways"]),
        "nats": len([one for one in ec2.describe_nat_gateways()["NatGateways"] if one["State"] != "deleted"]),
        "addresses": len(ec2.describe_addresses()["Addresses"]),
        "tables": len(ec2.describe_route_tables()["RouteTables"]),
        "groups": len(ec2.describe_security_groups()["SecurityGroups"]),
        "endpoints": len([one for one in ec2.describe_vpc_endpoints()["VpcEndpoints"] if one["State"] != "deleted"]),
        "interfaces": len(ec2.describe_network_interfaces()["NetworkInterfaces"]),
        "flow logs": len(ec2.describe_flow_logs()["FlowLogs"]),
        "log groups": len(world.client("logs").describe_log_groups()["logGroups"]),
        "roles": len(world.client("iam").list_roles()["Roles"]),
    }


def test_a_whole_network_comes_and_goes(world: World) -> None:
    before = _seen(world)

    assert world.deploy(_network()) == "CREATE_COMPLETE", world.failures()

    (nodes,) = world.client("ec2").describe_subnets(SubnetIds=[world.physical_id("Nodes")])["Subnets"]
    assert (nodes["AvailabilityZoneId"], nodes["CidrBlock"]) == ("usw2-az3", "10.1.0.0/16")
    assert world.delete() == "DELETE_COMPLETE", world.failures()
    assert _seen(world) == before


def test_a_network_is_changed_in_place(world: World) -> None:
    world.deploy(_network())
    group = world.physical_id("Group")

    tags = {"Tags": [{"Key": "k", "Value": "v"}]}
    no_policy = {"Version": "2012-10-17", "Statement": []}
    changes = {
        "Vpc": {**tags, "EnableDnsHostnames": False},
        "Group": {"SecurityGroupEgress": [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}]},
        "SelfIn": {"Description": "nodes among themselves"},
        "S3": {"PolicyDocument": no_policy, "RouteTableIds": [{"Ref": "NatTable"}, {"Ref": "OutTable"}]},
        "Logs": {"RetentionInDays": 7},
        "Nat": tags,
        "Public": {"MapPublicIpOnLaunch": True},
    }
    assert world.deploy(_network(**changes)) == "UPDATE_COMPLETE", world.failures()

    assert world.physical_id("Group") == group
    (found,) = world.client("ec2").describe_security_groups(GroupIds=[group])["SecurityGroups"]
    assert sorted(rule["IpProtocol"] for rule in found["IpPermissionsEgress"]) == ["-1", "tcp"]
    world.delete()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}},
            "vpc-flow-logs.amazonaws.com may not assume the flow log's role",
        ),
        ({"Policies": []}, "may not logs:CreateLogStream on"),
    ],
)
def test_a_flow_log_whose_role_cannot_deliver_is_refused(world: World, change: dict[str, Any], reason: str) -> None:
    assert world.deploy(_network(Role=change)) == "ROLLBACK_COMPLETE"
    assert reason in world.reason("Flow", "CREATE_FAILED")


def test_a_zone_id_that_is_not_there_is_refused(world: World) -> None:
    assert world.deploy(_network(Nodes={"AvailabilityZoneId": "use1-az1"})) == "ROLLBACK_COMPLETE"
    assert "Value (use1-az1) for parameter availabilityZoneId is invalid" in world.reason("Nodes", "CREATE_FAILED")


def test_a_subnet_in_use_holds_the_network(world: World) -> None:
    world.deploy(_network())
    subnet = world.physical_id("Nodes")
    interface = world.client("ec2").create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"]

    assert world.delete() == "DELETE_FAILED"
    assert "DependencyViolation" in world.reason("Nodes", "DELETE_FAILED")
    assert {"Nodes", "Range", "Vpc"} <= world.resources()

    world.client("ec2").delete_network_interface(NetworkInterfaceId=interface)
    assert world.delete() == "DELETE_COMPLETE", world.failures()
