"""The function of the network's custom resource, with answers of EC2 that the embedded AWS does not give."""

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cluster_resource.event import Event
from network_resource.cleanup import response_to
from network_resource.foreign_resources import foreign_resources
from tests.unit.cluster_resource.fake_call import fake_call

OURS = [{"Key": "hyperpod-cdk:cluster", "Value": "ml"}]
GUARDED = [{"Key": "GuardDutyManaged", "Value": "true"}]
OWNER = "123456789012"


def endpoint(name: str, subnet: str, **changes: Any) -> dict[str, Any]:
    service = {"ServiceName": "com.amazonaws.us-west-2.guardduty-data", "State": "available", "Tags": GUARDED}
    return {"VpcEndpointId": name, **service, "SubnetIds": [subnet], "NetworkInterfaceIds": [f"eni-{name}"], **changes}


def group(name: str, **changes: Any) -> dict[str, Any]:
    return {"GroupId": name, "GroupName": name, "OwnerId": OWNER, "Description": "", **changes}


def interface(name: str, **changes: Any) -> dict[str, Any]:
    """An interface of a service in our security group."""
    place = {"SubnetId": "subnet-nodes", "OwnerId": OWNER, "Groups": [{"GroupId": "sg-ours"}], "Description": ""}
    return {"NetworkInterfaceId": name, **place, "InterfaceType": "interface", "RequesterManaged": True, **changes}


class FakeEc2:
    """Lists what the test gives, one a page; deleted endpoints go after ``lingering`` looks, and interfaces one look later."""

    def __init__(self, lingering: int = 0, **listed: list[dict[str, Any]]) -> None:
        ours = [group("sg-ours", Tags=OURS), group("sg-default", GroupName="default")]
        self.listed = {"SecurityGroups": ours, **deepcopy(listed)}
        self.deleted: list[str] = []
        self.lingering = lingering
        self.unsuccessful: list[Any] = []
        self.refusals = 0
        self.found: list[dict[str, Any]] = []

    def __getattr__(self, operation: str) -> Any:
        kind = "".join(part.capitalize() for part in operation.removeprefix("describe_").split("_"))
        return lambda **asked: self._page(kind, asked.get("NextToken") or 0)

    def _page(self, kind: str, start: int) -> dict[str, Any]:
        self.found = self.found if start else self._looked(kind)
        end = start + 1
        return {kind: self.found[start:end], **({"NextToken": end} if end < len(self.found) else {})}

    def delete_vpc_endpoints(self, **asked: Any) -> dict[str, Any]:
        self.deleted += asked["VpcEndpointIds"]
        return {"Unsuccessful": self.unsuccessful}

    def delete_security_group(self, **asked: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ClientError({"Error": {"Code": "DependencyViolation", "Message": "in use"}}, "DeleteSecurityGroup")
        self.deleted.append(asked["GroupId"])

    def _looked(self, kind: str) -> list[dict[str, Any]]:
        found = self.listed.get(kind, [])
        if kind == "VpcEndpoints" and self.deleted:
            self.lingering -= 1
            found = [{**each, "State": "deleting" if self.lingering >= 0 else "deleted"} for each in found]
        if kind == "NetworkInterfaces" and self.lingering < -1:
            found = [each for each in found if each.get("InterfaceType") != "vpc_endpoint"]
        return found


def answered(
    ec2: FakeEc2, request_type: str = "Delete", *, deletes_vpc: bool = True, status: str = "DELETE_IN_PROGRESS"
) -> tuple[str, str, int]:
    """The response's status and reason, and the number of pauses."""
    properties = {"VpcId": "vpc-1", "Cluster": "ml", "DeletesVpc": str(deletes_vpc).lower(), "SubnetIds": ["subnet-public"]}
    pauses: list[float] = []
    event = Event(request_type, "1", "arn:aws:cloudformation:::stack/s/1", "C", "Custom::X", "", "p", properties, None)
    described = fake_call("cloudformation", "DescribeStacks", lambda: {"Stacks": [{"StackStatus": status}]})
    stacks = SimpleNamespace(describe_stacks=described)
    response = response_to(event, ec2, stacks, pauses.append)
    return response["Status"], response["Reason"], len(pauses)


@pytest.mark.parametrize(
    ("request_type", "status"),
    [
        ("Create", "CREATE_IN_PROGRESS"),
        ("Update", "UPDATE_IN_PROGRESS"),
        ("Delete", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"),
        ("Delete", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"),
    ],
)
def test_only_the_deletion_of_the_stack_acts(request_type: str, status: str) -> None:
    ec2 = FakeEc2(VpcEndpoints=[endpoint("vpce-1", "subnet-nodes")])
    assert answered(ec2, request_type, status=status)[0] == "SUCCESS"
    assert ec2.deleted == []


def test_the_group_is_deleted_once_the_endpoint_and_its_interfaces_are_gone() -> None:
    guarded = group("sg-guard", GroupName="GuardDutyManagedSecurityGroup-vpc-1", Tags=GUARDED)
    of_endpoint = interface("eni-vpce-1", InterfaceType="vpc_endpoint", Groups=[{"GroupId": "sg-guard"}])
    ec2 = FakeEc2(3, VpcEndpoints=[endpoint("vpce-1", "subnet-nodes")], NetworkInterfaces=[of_endpoint])
    ec2.listed["SecurityGroups"].append(guarded)
    assert answered(ec2) == ("SUCCESS", "nothing is left", 4)
    assert ec2.deleted == ["vpce-1", "sg-guard"]


@pytest.mark.parametrize(
    "change", [{"Tags": []}, {"ServiceName": "com.amazonaws.us-west-2.guardduty"}, {"Tags": [{**GUARDED[0], "Value": "false"}]}]
)
def test_an_endpoint_without_guarddutys_tag_and_service_is_of_others(change: dict[str, Any]) -> None:
    ec2 = FakeEc2(VpcEndpoints=[endpoint("vpce-1", "subnet-nodes", OwnerId=OWNER, **change)])
    status, reason, _ = answered(ec2)
    assert (status, ec2.deleted) == ("FAILED", [])
    assert f"VPC endpoint vpce-1 ({change.get('ServiceName', 'com.amazonaws.us-west-2.guardduty-data')}) of account" in reason


def test_a_vpc_that_stays_loses_only_the_endpoint_in_a_subnet_that_goes() -> None:
    points = [endpoint("vpce-1", "subnet-nodes"), endpoint("vpce-2", "subnet-public")]
    guarded = group("sg-guard", GroupName="GuardDutyManagedSecurityGroup-vpc-1", Tags=GUARDED)
    ec2 = FakeEc2(VpcEndpoints=points)
    ec2.listed["SecurityGroups"] += [guarded, group("sg-web")]
    assert answered(ec2, deletes_vpc=False)[0] == "SUCCESS"
    assert ec2.deleted == ["vpce-2"]
    balancer = interface("eni-1", Description="ELB app/web/1", SubnetId="subnet-public", RequesterId="amazon-elb")
    ec2 = FakeEc2(NetworkInterfaces=[balancer])
    assert answered(ec2, deletes_vpc=False)[1] == (
        "vpc-1 is in use: network interface eni-1 (ELB app/web/1) of amazon-elb is in subnet-public; "
        "the deployment did not create these; delete them, then run `cdk destroy` again"
    )


def test_an_endpoint_that_cannot_be_deleted_or_never_goes_fails_the_deletion_with_its_id() -> None:
    ec2 = FakeEc2(10**6, VpcEndpoints=[endpoint("vpce-1", "subnet-nodes")])
    status, reason, pauses = answered(ec2)
    assert (status, 5 * pauses < 600) == ("FAILED", True), "the function runs for ten minutes"
    assert "endpoint vpce-1: still being deleted" in reason
    ec2 = FakeEc2(VpcEndpoints=[endpoint("vpce-1", "subnet-nodes")])
    ec2.unsuccessful = [{"Error": {"Code": "OperationNotPermitted", "Message": "an organization policy"}}]
    status, reason, pauses = answered(ec2)
    assert (status, pauses) == ("FAILED", 0)
    assert "an organization policy" in reason


def test_what_is_being_deleted_or_just_went_is_waited_for() -> None:
    ec2 = FakeEc2(VpcEndpoints=[endpoint("vpce-1", "subnet-nodes", State="deleting")])
    assert answered(ec2)[0] == "FAILED", "it never goes"
    assert ec2.deleted == []
    service = "com.amazonaws.us-gov-west-1.guardduty-data-fips"
    ec2 = FakeEc2(VpcEndpoints=[endpoint("vpce-1", "subnet-nodes", ServiceName=service)])
    ec2.unsuccessful = [{"Error": {"Code": "InvalidVpcEndpoint.NotFound", "Message": "gone"}}]
    assert answered(ec2)[0] == "SUCCESS"
    ec2 = FakeEc2()
    ec2.listed["SecurityGroups"].append(group("sg-guard", GroupName="GuardDutyManagedSecurityGroup-vpc-1", Tags=GUARDED))
    ec2.refusals = 2
    assert answered(ec2) == ("SUCCESS", "nothing is left", 2)


@pytest.mark.parametrize("state", ["available", "deleting"])
def test_our_gateway_main_routes_and_the_groups_of_eks_are_not_of_others(state: str) -> None:
    addresses = [{"NetworkInterfaceId": "eni-1"}]
    gateway = {"NatGatewayId": "nat-1", "State": state, "Tags": OURS, "NatGatewayAddresses": addresses}
    routes = {"RouteTableId": "rtb-1", "Associations": [{"Main": True}]}
    ec2 = FakeEc2(NatGateways=[gateway], RouteTables=[routes], NetworkInterfaces=[interface("eni-1", Groups=[])])
    ec2.listed["SecurityGroups"].append(group("sg-eks", Tags=[{"Key": "aws:eks:cluster-name", "Value": "ml"}]))
    assert foreign_resources(ec2, "vpc-1", "ml") == []


def shop() -> dict[str, Any]:
    """A group of the stack `shop` that refers to ours."""
    rule = {"UserIdGroupPairs": [{"GroupId": "sg-ours"}]}
    return group("sg-web", Tags=[{"Key": "aws:cloudformation:stack-name", "Value": "shop"}], IpPermissionsEgress=[rule])


def peering(requester: str, accepter: str, status: str) -> dict[str, Any]:
    ends = {"RequesterVpcInfo": {"VpcId": requester, "OwnerId": OWNER}, "AccepterVpcInfo": {"VpcId": accepter}}
    return {"VpcPeeringConnectionId": "pcx-1", "Status": {"Code": status}, **ends}


def vpn(state: str) -> dict[str, Any]:
    return {"VpnGatewayId": "vgw-1", "VpcAttachments": [{"VpcId": "vpc-1", "State": state}]}


def outward(vpc: str) -> dict[str, Any]:
    return {"EgressOnlyInternetGatewayId": "eigw-1", "Attachments": [{"VpcId": vpc, "State": "attached"}]}


ACL = {"NetworkAclId": "acl-1", "OwnerId": OWNER}
NAT = {"NatGatewayId": "nat-1", "State": "available", "SubnetId": "subnet-1"}
OTHERS_INSTANCE = {"InstanceId": "i-1", "InstanceOwnerId": OWNER}
HYPERPODS_INSTANCE = {"InstanceId": "i-2", "InstanceOwnerId": "999999999999"}
TWO_GROUPS = [{"GroupId": "sg-ours"}, {"GroupId": "sg-web"}]
OF_OTHERS = f"of account {OWNER} is in subnet-nodes"
PEERING = f"VPC peering connection pcx-1 of account {OWNER} is in vpc-1"


@pytest.mark.parametrize(
    ("kind", "resource", "sentence"),
    [
        ("SecurityGroups", shop(), "security group sg-web of stack shop refers to sg-ours"),
        ("VpcPeeringConnections", peering("vpc-1", "vpc-2", "active"), PEERING),
        ("VpcPeeringConnections", peering("vpc-2", "vpc-1", "pending-acceptance"), PEERING),
        ("VpcPeeringConnections", peering("vpc-1", "vpc-2", "deleted"), ""),
        ("VpcPeeringConnections", peering("vpc-2", "vpc-3", "active"), ""),
        ("NatGateways", NAT, "NAT gateway nat-1 is in subnet-1"),
        ("Subnets", {"SubnetId": "subnet-1", "OwnerId": OWNER}, f"subnet subnet-1 of account {OWNER} is in vpc-1"),
        ("NetworkAcls", ACL, f"network ACL acl-1 of account {OWNER} is in vpc-1"),
        ("NetworkAcls", {**ACL, "IsDefault": True}, ""),
        ("VpnGateways", vpn("attached"), "VPN gateway vgw-1 is in vpc-1"),
        ("VpnGateways", vpn("detached"), ""),
        ("EgressOnlyInternetGateways", outward("vpc-1"), "egress-only internet gateway eigw-1 is in vpc-1"),
        ("EgressOnlyInternetGateways", outward("vpc-2"), ""),
        # An interface is the cluster's if a service put it into only our groups: FSx, EKS, Lambda, HyperPod.
        ("NetworkInterfaces", interface("eni-1"), ""),
        ("NetworkInterfaces", interface("eni-1", InterfaceType="lambda"), ""),
        ("NetworkInterfaces", interface("eni-1", RequesterManaged=False, Attachment=HYPERPODS_INSTANCE), ""),
        (
            "NetworkInterfaces",
            interface("eni-1", RequesterManaged=False, Attachment=OTHERS_INSTANCE),
            f"network interface eni-1 (i-1) {OF_OTHERS}",
        ),
        ("NetworkInterfaces", interface("eni-1", RequesterManaged=False), f"network interface eni-1 {OF_OTHERS}"),
        ("NetworkInterfaces", interface("eni-1", Groups=TWO_GROUPS), f"network interface eni-1 {OF_OTHERS}"),
        ("NetworkInterfaces", interface("eni-1", InterfaceType="efs"), f"network interface eni-1 {OF_OTHERS}"),
        (
            "NetworkInterfaces",
            interface("eni-1", Description="ELB net/web/1"),
            f"network interface eni-1 (ELB net/web/1) {OF_OTHERS}",
        ),
    ],
)
def test_each_kind_of_resource_that_blocks_the_deletion_of_the_vpc_is_named(
    kind: str, resource: dict[str, Any], sentence: str
) -> None:
    ec2 = FakeEc2()
    ec2.listed.setdefault(kind, []).append(resource)
    assert [each.sentence for each in foreign_resources(ec2, "vpc-1", "ml")] == [sentence] * bool(sentence)
