"""A VPC of the deployment into which GuardDuty and others put something: `cdk destroy` deletes only GuardDuty's."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from cli.deployment import Deployment
from local_aws.network_interfaces import Place, create, delete
from local_aws.testing import ACCOUNT, REGION, Client, ask
from tests.local.walk.leftovers import leftovers
from tests.local.walk.workspace import Workspace
from tests.verify_aws.leftovers import leftovers as listed_by_verify_aws

pytestmark = [pytest.mark.cdk, pytest.mark.local]


class Others:
    """What others put into the VPC; ``ids`` are those that a user must read."""

    def __init__(self, client: Client) -> None:
        self._ec2 = ec2 = client("ec2")
        [ours] = _of_us(ec2.describe_vpcs()["Vpcs"])
        self._vpc, subnets = ours["VpcId"], _of_us(ec2.describe_subnets()["Subnets"])
        [subnet] = [each["SubnetId"] for each in subnets if each["CidrBlock"] == "10.1.0.0/16"]
        [nodes] = [each["GroupId"] for each in _of_us(ec2.describe_security_groups()["SecurityGroups"])]
        group = ec2.create_security_group(VpcId=self._vpc, GroupName="web", Description="web")["GroupId"]
        rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": nodes}]}]
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rule)
        interface = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]["NetworkInterfaceId"]
        self._place = Place(ACCOUNT, REGION, subnet, (nodes,))
        [self._balancer] = create(self._place, 1, description="ELB app/web/0123456789abcdef")
        other = ec2.create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"]
        peering = ec2.create_vpc_peering_connection(VpcId=other, PeerVpcId=self._vpc)["VpcPeeringConnection"]
        self._ids = {"peering": peering["VpcPeeringConnectionId"], "group": group, "interface": interface, "vpc": other}
        self.sentences = [
            f"VPC peering connection {peering['VpcPeeringConnectionId']} of account {ACCOUNT} is in {self._vpc}",
            f"security group {group} (web) of account {ACCOUNT} refers to {nodes}",
            f"network interface {interface} of account {ACCOUNT} is in {subnet}",
            f"network interface {self._balancer.id} (ELB app/web/0123456789abcdef) of AIDAIT2UOQQY3AUEMOTO is in {subnet}",
        ]

    def exist(self) -> bool:
        """Whether all of them exist: EC2 refuses the ids of others."""
        self._ec2.describe_network_interfaces(NetworkInterfaceIds=[self._ids["interface"], self._balancer.id])
        self._ec2.describe_security_groups(GroupIds=[self._ids["group"]])
        peerings = self._ec2.describe_vpc_peering_connections()["VpcPeeringConnections"]
        return [each["Status"]["Code"] for each in peerings] == ["pending-acceptance"]

    def remove(self) -> None:
        """Delete them, as their owners do."""
        delete(ACCOUNT, REGION, [self._balancer])
        self._ec2.delete_network_interface(NetworkInterfaceId=self._ids["interface"])
        self._ec2.delete_security_group(GroupId=self._ids["group"])
        self._ec2.delete_vpc_peering_connection(VpcPeeringConnectionId=self._ids["peering"])
        self._ec2.delete_vpc(VpcId=self._ids["vpc"])


def _of_us(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in listed if {"Key": "hyperpod-cdk:cluster", "Value": "reference"} in each.get("Tags", ())]


def _guarddutys(client: Client) -> list[str]:
    """The endpoints and groups of GuardDuty that exist."""
    points = client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    groups = [each["GroupName"] for each in client("ec2").describe_security_groups()["SecurityGroups"]]
    services = [each["ServiceName"] for each in points if each["State"] != "deleted"]
    return [name for name in (*services, *groups) if "guardduty" in name.lower()]


def _named(text: str, sentences: list[str]) -> list[str]:
    """The sentences in a text that may be wrapped."""
    return [each for each in sentences if "".join(each.split()) in "".join(text.replace("#", "").split())]


@pytest.mark.long
def test_what_others_put_into_the_vpc_is_named_and_kept_and_what_guardduty_put_there_goes(
    workspace: Workspace, client: Client
) -> None:
    path = workspace.folder / "clusters" / "reference.yaml"
    file = yaml.safe_load(path.read_text())
    file["storage"] = {"lustre": {**file["storage"]["lustre"], "removal": "destroy"}}
    path.write_text(yaml.safe_dump(file, sort_keys=False))
    ask("behaviour", "POST", b'{"guardduty": "automatic"}')
    ask("durations", "POST", b'{"ec2.endpoint.delete": 1}')  # the fast clock slows down while a function runs
    workspace.deploy()
    assert len(_guarddutys(client)) == 2
    assert "foreign resources: the VPC has no resources of others" in workspace.hpod("preflight", "reference", "--all")

    others = Others(client)
    assert _named(workspace.hpod("preflight", "reference"), others.sentences) == others.sentences
    assert _named(workspace.hpod("retained", "reference"), others.sentences) == others.sentences
    printed = workspace.cdk("destroy", "reference/*", "--force", fails=True)
    assert _named(printed, others.sentences) == others.sentences
    names = SimpleNamespace(name="reference")
    deployment = SimpleNamespace(config=names, client=client, region=REGION, stacks=list, stack_names=["reference-Network"])
    listed = [each.command for each in listed_by_verify_aws(cast("Deployment", deployment), "cdk destroy")]
    assert [each for each in listed if each.startswith("not ours")] == [
        f"not ours, delete it yourself: {each}" for each in others.sentences
    ]
    assert not [each for each in listed if "delete-network-interface" in each]
    assert others.exist()
    assert _guarddutys(client) == []

    others.remove()
    workspace.destroy()
    left = leftovers(client)
    assert set(left) <= {"log group"}, left
