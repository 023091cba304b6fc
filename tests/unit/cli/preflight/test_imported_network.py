"""A VPC, subnets and security groups that are there already."""

from typing import Any

import pytest

from cli.preflight.check import CheckResult
from cli.preflight.network import internet, vpc
from cli.preflight.security_groups import security_groups
from cli.preflight.subnets import subnets
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, IMPORTED, asked, lines, only, outcomes, refused, stacks

OWN_SUBNETS = IMPORTED.replace(
    "instance_count: 4}",
    "instance_count: 4, overrides: {OverrideVpcConfig: {Subnets: [subnet-00000002], SecurityGroupIds: [sg-00000002]}}}",
)
OPENED = IMPORTED.replace(
    "security_group_id: sg-00000001}",
    "security_group_id: sg-00000001, internet_access: create}\n  public_subnet_cidr: 10.0.9.0/24",
)
CPU_ONLY = IMPORTED.replace("ml.trn1.32xlarge", "ml.c5.4xlarge")


def vpcs(without: str = "", cidr: str = "10.0.0.0/16") -> dict[str, Any]:
    """An account with the VPC."""
    values = {
        "enableDnsSupport": ("EnableDnsSupport", without != "support"),
        "enableDnsHostnames": ("EnableDnsHostnames", without != "hostnames"),
    }

    def attribute(VpcId: str, Attribute: str) -> dict[str, Any]:  # noqa: N803  as boto3 spells them
        assert VpcId == "vpc-00000001"
        member, value = values[Attribute]
        return {member: {"Value": value}}

    found = {"VpcId": "vpc-00000001", "CidrBlock": cidr, "CidrBlockAssociationSet": [{"CidrBlock": cidr}]}
    return {"ec2.describe_vpcs": {"Vpcs": [found]}, "ec2.describe_vpc_attribute": attribute}


@pytest.mark.parametrize(
    ("answers", "file", "line"),
    [
        (vpcs(), IMPORTED, "ok: vpc-00000001 (10.0.0.0/16) exists and resolves names"),
        (vpcs(cidr="10.8.0.0/16"), IMPORTED, "ok: vpc-00000001 (10.8.0.0/16) exists and resolves names"),
        (vpcs(cidr="10.8.0.0/16"), OPENED, "error: vpc-00000001 has 10.8.0.0/16, and `vpc_cidr` is 10.0.0.0/16"),
        ({"ec2.describe_vpcs": refused("InvalidVpcID.NotFound")}, IMPORTED, "error: no VPC vpc-00000001 in us-west-2"),
    ],
)
def test_a_vpc_exists_and_has_the_range_from_which_a_public_subnet_is_cut(answers: dict[str, Any], file: str, line: str) -> None:
    assert lines(asked(vpc, answers, file)) == [line]


@pytest.mark.parametrize("setting", ["support", "hostnames"])
def test_a_vpc_without_dns_is_an_error_with_the_command_that_mends_it(setting: str) -> None:
    found = only(asked(vpc, vpcs(without=setting), IMPORTED))
    assert found.outcome == "error"
    assert found.fix == f"`aws ec2 modify-vpc-attribute --vpc-id vpc-00000001 --enable-dns-{setting}`"


def test_the_vpcs_range_is_compared_although_its_settings_may_not_be_asked_for() -> None:
    found = asked(vpc, vpcs(cidr="10.8.0.0/16") | {"ec2.describe_vpc_attribute": DENIED}, OPENED)
    assert outcomes(found) == ["warning", "error"]


def routes(*found: dict[str, str], main: bool = False) -> dict[str, Any]:
    """An account whose subnet has these routes, by a table of its own or by the VPC's main one."""
    association = {"Main": True} if main else {"SubnetId": "subnet-00000001"}
    table = {"Associations": [association], "Routes": [{"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local"}, *found]}
    return {"ec2.describe_route_tables": {"RouteTables": [table, {"Associations": [], "Routes": []}]}}


def default(**target: str) -> dict[str, str]:
    return {"DestinationCidrBlock": "0.0.0.0/0", **target}


@pytest.mark.parametrize(
    ("aws", "outcome", "message"),
    [
        (routes(default(NatGatewayId="nat-1")), "ok", "subnet-00000001 has a route to the internet by nat-1"),
        (routes(default(NatGatewayId="nat-1"), main=True), "ok", "subnet-00000001 has a route to the internet by nat-1"),
        (routes(default(NatGatewayId="nat-1", State="blackhole")), "error", "is a blackhole"),
        (routes(default(GatewayId="igw-1")), "error", "is public: its default route is igw-1"),
    ],
)
def test_a_subnet_has_a_private_way_to_the_internet(aws: dict[str, Any], outcome: str, message: str) -> None:
    found = only(asked(internet, aws, IMPORTED))
    assert found.outcome == outcome
    assert message in found.message


def opened(gateways: int = 0, cidr: str = "10.0.8.0/24") -> dict[str, Any]:
    """A VPC with so many internet gateways, and a subnet of this range."""
    return {
        "ec2.describe_internet_gateways": {"InternetGateways": [{"InternetGatewayId": "igw-1"}] * gateways},
        "ec2.describe_subnets": {"Subnets": [{"SubnetId": "subnet-00000001", "CidrBlock": cidr}]},
    }


def test_a_network_that_is_to_be_opened_has_no_gateway_yet_and_room_for_the_public_subnet() -> None:
    assert outcomes(asked(internet, opened(), OPENED)) == ["ok"]
    second = only(asked(internet, opened(gateways=1), OPENED))
    assert (second.outcome, second.message) == ("error", "vpc-00000001 has internet gateway igw-1, and a VPC can have only one")
    taken = only(asked(internet, opened(cidr="10.0.0.0/20"), OPENED))
    assert (taken.outcome, taken.message) == (
        "error",
        "`public_subnet_cidr` 10.0.9.0/24 overlaps with subnet-00000001 (10.0.0.0/20)",
    )
    hidden = opened(cidr="10.0.0.0/20") | {"ec2.describe_internet_gateways": DENIED}
    assert outcomes(asked(internet, hidden, OPENED)) == ["warning", "error"]
    own = opened(gateways=1) | {"cloudformation.describe_stacks": stacks(Network={})}
    assert outcomes(asked(internet, own, OPENED)) == ["skipped"], "they are the file's own by then"


def test_of_a_vpc_that_is_not_there_no_way_out_is_asked_for() -> None:
    assert outcomes(asked(internet, {"ec2.describe_route_tables": {"RouteTables": []}}, IMPORTED)) == ["skipped"]


def test_from_a_subnet_without_a_default_route_only_the_vpcs_endpoints_are_reached_and_reported() -> None:
    endpoints = [
        {"ServiceName": "com.amazonaws.us-west-2.s3", "State": "available"},
        {"ServiceName": "com.amazonaws.us-west-2.sagemaker.api", "State": "Available"},
        {"ServiceName": "com.amazonaws.us-west-2.logs", "State": "deleting"},
    ]
    found = only(asked(internet, routes() | {"ec2.describe_vpc_endpoints": {"VpcEndpoints": endpoints}}, IMPORTED))
    assert found.outcome == "warning"
    assert "by the VPC's endpoints (s3, sagemaker.api)" in found.message


def in_subnets(free: int = 100, others: int = 100, changed: dict[str, str] | None = None, **second: str) -> dict[str, Any]:
    """An account with two subnets that have so many free addresses, the first changed, and the second."""
    shared = {"VpcId": "vpc-00000001", "AvailabilityZoneId": "usw2-az4"}
    known = {
        "subnet-00000001": {"SubnetId": "subnet-00000001", "AvailableIpAddressCount": free, **shared, **(changed or {})},
        "subnet-00000002": {"SubnetId": "subnet-00000002", "AvailableIpAddressCount": others, **shared, **second},
    }

    def describe(SubnetIds: list[str]) -> Any:  # noqa: N803  as boto3 spells it
        [name] = SubnetIds
        return {"Subnets": [known[name]]} if name in known else refused("InvalidSubnetID.NotFound")

    return {"ec2.describe_subnets": describe, "sagemaker.list_clusters": {"ClusterSummaries": []}}


THE_SUBNETS = "the nodes' subnets (subnet-00000001) have"
NEW_FILE_SYSTEM = IMPORTED.replace(
    "storage: {existing: {file_system_id: fs-00000001, mount_name: abcdefg}}", 'storage: {lustre: {version: "2.15"}}'
)


@pytest.mark.parametrize(
    ("file", "free", "line"),
    [
        (IMPORTED, 33, f"ok: {THE_SUBNETS} 33 free addresses, and 33 are required (head 1, work 32)"),
        (IMPORTED, 32, f"error: {THE_SUBNETS} 32 free addresses, and 33 are required (head 1, work 32)"),
        (
            *(NEW_FILE_SYSTEM, 33),
            f"error: {THE_SUBNETS} 33 free addresses, and 34 are required (head 1, work 32, the file system 1 or more)",
        ),
        (
            *(IMPORTED.replace("subnet-00000001", "subnet-00000003"), 33),
            "error: the nodes' subnets: no subnet subnet-00000003 in us-west-2",
        ),
    ],
)
def test_the_subnets_have_room_for_all_interfaces(file: str, free: int, line: str) -> None:
    assert lines(asked(subnets, in_subnets(free), file)) == [line]


def own_cluster(**group: Any) -> dict[str, Any]:
    """An account whose cluster of the file has this group."""
    return {
        "sagemaker.list_clusters": {"ClusterSummaries": [{"ClusterName": "mine"}]},
        "sagemaker.describe_cluster": {"ClusterName": "mine", "InstanceGroups": [{"InstanceGroupName": "work", **group}]},
        "cloudformation.describe_stacks": stacks(Cluster={"ClusterName": "mine"}),
    }


def test_what_the_own_clusters_nodes_have_already_is_not_needed_again() -> None:
    own = own_cluster(InstanceType="ml.trn1.32xlarge", CurrentCount=4)
    found = only(asked(subnets, in_subnets(1) | own, IMPORTED))
    assert found.outcome == "ok"
    assert "32 of which its nodes already have" in found.message


def test_nodes_of_several_types_or_with_only_efa_count_with_their_real_addresses() -> None:
    types = "InstanceType: null, InstanceRequirements: {InstanceTypes: [ml.trn1.32xlarge, ml.trn1n.32xlarge]}"
    mixed = IMPORTED.replace("instance_count: 4}", f"instance_count: 4, overrides: {{{types}}}}}")
    details = [{"InstanceType": "ml.trn1n.32xlarge", "CurrentCount": 2}, {"InstanceType": "ml.trn1.32xlarge", "CurrentCount": 1}]
    found = only(asked(subnets, in_subnets(1) | own_cluster(InstanceTypeDetails=details), mixed))
    assert "40 of which its nodes already have" in found.message
    one_each = IMPORTED.replace(
        "ml.trn1.32xlarge, instance_count: 4}",
        "ml.p5.48xlarge, instance_count: 100, overrides: {NetworkInterface: {InterfaceType: efa-only}}}",
    )
    have = own_cluster(InstanceType="ml.p5.48xlarge", CurrentCount=4, NetworkInterface={"InterfaceType": "efa-only"})
    found = only(asked(subnets, in_subnets(96) | have, one_each))
    assert (found.outcome, "4 of which its nodes already have" in found.message) == ("error", True)
    assert outcomes(asked(subnets, in_subnets(97) | have, one_each)) == ["ok"]


def test_groups_with_the_same_subnets_of_their_own_share_the_addresses() -> None:
    [head, work] = [each for each in OWN_SUBNETS.splitlines() if each.startswith("  - ")]
    file = OWN_SUBNETS.replace(head, f"{head}\n{work.replace('name: work', 'name: more')}")
    found = asked(subnets, in_subnets(1, others=63), file)
    assert outcomes(found) == ["ok", "error"]
    assert found[1].message.startswith(
        "the subnets of groups more, work (subnet-00000002) have 63 free addresses, and 64 are required"
    )
    assert outcomes(asked(subnets, in_subnets(1, others=64), file)) == ["ok", "ok"]
    in_the_nodes = OWN_SUBNETS.replace("subnet-00000002", "subnet-00000001")
    assert outcomes(asked(subnets, in_subnets(32), in_the_nodes)) == ["error"], "a group may name the nodes' subnets too"


def test_a_groups_own_subnets_in_several_zones_matter_only_to_efa() -> None:
    file = OWN_SUBNETS.replace("[subnet-00000002]", "[subnet-00000001, subnet-00000002]")
    account = in_subnets(changed={"AvailabilityZoneId": "usw2-az1"})
    found = asked(subnets, account, file)
    assert [each.message for each in found if each.outcome == "warning"] == [
        "the subnets of group work are in several zones (subnet-00000001 in usw2-az1, subnet-00000002 in usw2-az4)"
    ]
    without = asked(subnets, account, file.replace("ml.trn1.32xlarge", "ml.c5.4xlarge"))
    assert not [each for each in without if each.message.startswith("the subnets of group work are")]


def test_a_group_with_subnets_of_its_own_takes_its_addresses_there() -> None:
    found = asked(subnets, in_subnets(1, others=31), OWN_SUBNETS)
    assert outcomes(found) == ["ok", "error"]
    assert found[1].message.startswith("the subnets of group work (subnet-00000002) have 31 free addresses, and 32 are required")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"VpcId": "vpc-00000002"}, "subnet-00000001 is in vpc-00000002, not in vpc-00000001"),
        ({"AvailabilityZoneId": "usw2-az1"}, "subnet-00000001 is in usw2-az1, and `network.availability_zone_id` is usw2-az4"),
    ],
)
def test_a_subnet_in_the_wrong_place_is_an_error(changed: dict[str, str], said: str) -> None:
    found = asked(subnets, in_subnets(changed=changed), IMPORTED)
    assert (found[0].outcome, found[0].message) == ("error", said)


def test_subnets_of_several_zones_are_an_error() -> None:
    file = IMPORTED.replace("[subnet-00000001]", "[subnet-00000001, subnet-00000002]")
    found = asked(subnets, in_subnets(changed={"AvailabilityZoneId": "usw2-az1"}), file)
    assert any(
        "are in several zones (subnet-00000001 in usw2-az1, subnet-00000002 in usw2-az4)" in each.message for each in found
    )


def to(*groups: str, anywhere: bool = False, **ports: Any) -> dict[str, Any]:
    """A rule that lets through all traffic, or some ports, with these groups or with everybody."""
    pairs = [{"GroupId": group} for group in groups]
    return {"IpProtocol": "-1", "UserIdGroupPairs": pairs, "IpRanges": [{"CidrIp": "0.0.0.0/0"}] if anywhere else [], **ports}


Rules = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def groups(**rules: Rules) -> dict[str, Any]:
    """An account whose security groups (their hyphens written as underscores) have these rules inward and outward."""

    def describe(GroupIds: list[str]) -> dict[str, Any]:  # noqa: N803  as boto3 spells it
        inward, outward = rules[GroupIds[0].replace("-", "_")]
        found = {"GroupId": GroupIds[0], "VpcId": "vpc-00000001", "IpPermissions": inward, "IpPermissionsEgress": outward}
        return {"SecurityGroups": [found]}

    return {"ec2.describe_security_groups": describe}


def group(inward: list[dict[str, Any]], outward: list[dict[str, Any]], vpc: str = "vpc-00000001") -> dict[str, Any]:
    """An account whose security groups all have these rules."""
    rules = {"VpcId": vpc, "IpPermissions": inward, "IpPermissionsEgress": outward}
    return {
        "ec2.describe_security_groups": lambda GroupIds: {"SecurityGroups": [{"GroupId": GroupIds[0], **rules}]}  # noqa: N803
    }


ITSELF, EVERYBODY = to("sg-00000001"), to(anywhere=True)


HTTPS = to(anywhere=True, IpProtocol="tcp", FromPort=443, ToPort=443)


@pytest.mark.parametrize(
    ("outward", "line"),
    [
        ([ITSELF, EVERYBODY], "ok: sg-00000001 lets its members reach each other, also on Lustre's ports"),
        ([ITSELF, HTTPS], "ok: sg-00000001 lets its members reach each other, also on Lustre's ports"),
        ([ITSELF], "warning: sg-00000001 does not let out TCP 443 to everywhere, by which nodes reach AWS"),
    ],
)
def test_a_group_is_open_to_itself_and_lets_out_https(outward: list[dict[str, Any]], line: str) -> None:
    assert lines(asked(security_groups, group([ITSELF], outward), IMPORTED)) == [line]


def test_efa_needs_a_rule_outward_that_names_the_group() -> None:
    found = only(asked(security_groups, group([ITSELF], [EVERYBODY]), IMPORTED))
    assert found.outcome == "error"
    assert "not 0.0.0.0/0" in found.message
    assert found.fix.startswith("`aws ec2 authorize-security-group-egress --group-id sg-00000001")
    assert outcomes(asked(security_groups, group([ITSELF], [EVERYBODY]), CPU_ONLY)) == ["ok"], "without EFA it is"


@pytest.mark.parametrize("inward", [[], [to("sg-00000002")], [to("sg-00000001", IpProtocol="tcp", FromPort=0, ToPort=65535)]])
def test_a_group_that_does_not_let_itself_in_is_an_error(inward: list[dict[str, Any]]) -> None:
    found = only(asked(security_groups, group(inward, [ITSELF, EVERYBODY]), IMPORTED))
    assert found.outcome == "error"
    assert found.message.startswith("sg-00000001 does not let in all traffic from itself")


RANGE = to(IpRanges=[{"CidrIp": "10.0.0.0/8"}])
ALL_TCP = to("sg-00000001", IpProtocol="tcp", FromPort=0, ToPort=65535)
SLURMS_PORTS = to("sg-00000001", IpProtocol="tcp", FromPort=6817, ToPort=6818)
BY_LIST = to(PrefixListIds=[{"PrefixListId": "pl-1"}])


@pytest.mark.parametrize(
    ("inward", "outcome"),
    [([RANGE], "ok"), ([ALL_TCP], "ok"), ([SLURMS_PORTS], "warning"), ([BY_LIST], "warning"), ([], "error")],
)
def test_nodes_without_efa_may_connect_by_range_or_only_over_tcp(inward: list[dict[str, Any]], outcome: str) -> None:
    account = group(inward, [EVERYBODY]) | {"ec2.describe_subnets": {"Subnets": [{"CidrBlock": "10.0.1.0/24"}]}}
    assert only(asked(security_groups, account, CPU_ONLY)).outcome == outcome
    if inward:
        assert asked(security_groups, account, IMPORTED)[0].outcome == "error", "with EFA neither will do"


def test_of_several_groups_that_nodes_have_one_with_the_rules_is_enough() -> None:
    file = OWN_SUBNETS.replace("[sg-00000002]", "[sg-00000001, sg-00000002]")
    second: Rules = ([], [EVERYBODY])
    found = asked(security_groups, groups(sg_00000001=([ITSELF], [ITSELF, EVERYBODY]), sg_00000002=second), file)
    assert [each.message.partition(" let")[0] for each in found] == ["sg-00000001", "sg-00000001, sg-00000002"]
    assert outcomes(found) == ["ok", "ok"]
    neither = asked(security_groups, groups(sg_00000001=([EVERYBODY], [EVERYBODY]), sg_00000002=second), file)
    assert outcomes(neither) == ["ok", "error", "error"], "the first set is the controller's, which has no EFA"
    assert neither[1].message.startswith("sg-00000001, sg-00000002 do not let in all traffic from each other")


def test_a_group_of_another_vpc_or_one_that_is_not_there_is_an_error() -> None:
    elsewhere = asked(security_groups, group([ITSELF], [ITSELF, EVERYBODY], vpc="vpc-00000009"), IMPORTED)
    assert elsewhere[0].message == "sg-00000001 is in vpc-00000009, not in vpc-00000001"
    absent = asked(security_groups, {"ec2.describe_security_groups": refused("InvalidGroup.NotFound")}, IMPORTED)
    assert only(absent).message == "no security group sg-00000001 in us-west-2"


def test_a_groups_own_network_must_be_in_the_vpc_too() -> None:
    elsewhere = asked(security_groups, group([ITSELF], [ITSELF, EVERYBODY], vpc="vpc-00000009"), OWN_SUBNETS)
    found = [each.message for each in elsewhere if each.outcome == "error"]
    assert "sg-00000002 is in vpc-00000009, not in vpc-00000001" in found
    told = asked(subnets, in_subnets(VpcId="vpc-00000009"), OWN_SUBNETS)
    assert "subnet-00000002 is in vpc-00000009, not in vpc-00000001" in [each.message for each in told]


def test_the_groups_of_a_groups_own_network_are_looked_at_too() -> None:
    found = asked(security_groups, group([ITSELF], [ITSELF, EVERYBODY]), OWN_SUBNETS)
    assert outcomes(found) == ["ok", "error", "error", "warning"], "sg-00000002 is not open to itself, nor to the others"


def test_login_nodes_with_a_group_of_their_own_need_not_reach_each_other() -> None:
    own = "overrides: {OverrideVpcConfig: {Subnets: [subnet-00000001], SecurityGroupIds: [sg-00000002]}}"
    file = f"{IMPORTED}  - {{name: door, role: login, instance_type: ml.c5.xlarge, instance_count: 2, {own}}}\n"
    slurmctld = to("sg-00000002", IpProtocol="tcp", FromPort=6817, ToPort=6817)
    outward = [ITSELF, EVERYBODY]
    door: Rules = ([], outward)
    open_to_it = groups(sg_00000001=([ITSELF, slurmctld], outward), sg_00000002=door)
    assert lines(asked(security_groups, open_to_it, file))[1:] == ["ok: sg-00000002 lets its members reach AWS"]
    deaf = asked(security_groups, groups(sg_00000001=([ITSELF], outward), sg_00000002=door), file)[-1]
    assert deaf.message.startswith("sg-00000001 does not let in TCP 6817 from sg-00000002"), "their commands ask slurmctld"


def test_a_controller_with_a_group_of_its_own_hears_the_others_and_they_hear_it() -> None:
    own = "overrides: {OverrideVpcConfig: {Subnets: [subnet-00000002], SecurityGroupIds: [sg-00000002]}}"
    file = IMPORTED.replace("instance_count: 1}", f"instance_count: 1, {own}}}")
    account = group([to("sg-00000009")], [ITSELF, EVERYBODY])
    assert [each.message.partition(":")[0] for each in asked(security_groups, account, file) if each.outcome == "warning"] == [
        "sg-00000002 does not let in TCP 6817 from sg-00000001",
        "sg-00000001 does not let in TCP 6818 from sg-00000002",
    ]


def test_groups_of_nodes_apart_from_the_others_must_still_meet_slurm() -> None:
    def apart(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[CheckResult]:
        itself = to("sg-00000002")
        return asked(
            security_groups,
            groups(sg_00000001=([ITSELF, *first], [ITSELF, EVERYBODY]), sg_00000002=([itself, *second], [itself, EVERYBODY])),
            OWN_SUBNETS,
        )

    found = apart([], [])
    assert outcomes(found) == ["ok", "ok", "warning", "warning"]
    assert found[2].message.startswith("sg-00000002 does not let in TCP 6818 from sg-00000001")
    assert found[3].message.startswith("sg-00000001 does not let in TCP 6817 from sg-00000002")
    slurmd = to("sg-00000001", IpProtocol="tcp", FromPort=6818, ToPort=6818)
    assert outcomes(apart([to("sg-00000002")], [slurmd])) == ["ok", "ok"]


def test_a_file_without_a_network_of_its_own_may_still_name_subnets_in_overrides() -> None:
    file = f"{FILE}overrides: {{VpcConfig: {{Subnets: [subnet-00000001], SecurityGroupIds: [sg-00000001]}}}}\n"
    assert outcomes(asked(security_groups, group([ITSELF], [ITSELF, EVERYBODY]), file)) == ["ok"]
    assert outcomes(asked(subnets, in_subnets(10), file)) == ["error"]
