"""File systems that are there already."""

from typing import Any

import pytest

from cli.preflight.file_systems import file_systems
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, IMPORTED, asked, lines, only, outcomes, refused, stacks
from tests.unit.cli.preflight.test_imported_network import to

EFA = IMPORTED.replace("mount_name: abcdefg", "mount_name: abcdefg, efa: true") + "slurm: {setup: scripts}\n"
ZFS_NAME = "fs-00000002.fsx.us-west-2.amazonaws.com"
ZFS = IMPORTED.replace(
    "storage: {existing: {file_system_id: fs-00000001, mount_name: abcdefg}}", f"storage: {{openzfs: {{dns_name: {ZFS_NAME}}}}}"
)
NEW_NETWORK = FILE.replace(
    'storage: {lustre: {version: "2.15"}}', "storage: {existing: {file_system_id: fs-00000001, mount_name: abcdefg}}"
)


def account(zone: str = "usw2-az4", rules: list[dict[str, Any]] | None = None, **changed: Any) -> dict[str, Any]:
    """An account with a Lustre file system, changed, and the group of its interfaces, with these rules."""
    lustre = {"MountName": "abcdefg", "DeploymentType": "PERSISTENT_2", **changed.pop("lustre", {})}
    found = {
        "FileSystemId": "fs-00000001",
        "FileSystemType": "LUSTRE",
        "Lifecycle": "AVAILABLE",
        "VpcId": "vpc-00000001",
        "SubnetIds": ["subnet-00000001"],
        "NetworkInterfaceIds": ["eni-1"],
        "LustreConfiguration": lustre,
    }
    group = {"GroupId": "sg-of-it", "IpPermissions": [to("sg-00000001")] if rules is None else rules}
    return {
        "fsx.describe_file_systems": {"FileSystems": [found | changed]},
        "ec2.describe_subnets": {"Subnets": [{"AvailabilityZoneId": zone, "CidrBlock": "10.0.1.0/24"}]},
        "ec2.describe_network_interfaces": {"NetworkInterfaces": [{"Groups": [{"GroupId": "sg-of-it"}]}]},
        "ec2.describe_security_groups": {"SecurityGroups": [group]},
    }


def tcp(first: int, last: int, cidr: str) -> dict[str, Any]:
    return {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "IpRanges": [{"CidrIp": cidr}]}


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({}, "ok", "fs-00000001 exists, has mount name abcdefg and accepts the nodes"),
        ({"rules": [tcp(988, 1023, "10.0.0.0/16")]}, "ok", "fs-00000001 exists, has mount name abcdefg and accepts the nodes"),
        ({"FileSystemType": "ONTAP"}, "error", "fs-00000001 is of type ONTAP, not LUSTRE"),
        ({"Lifecycle": "CREATING"}, "warning", "fs-00000001 is CREATING"),
        ({"Lifecycle": "FAILED", "FailureDetails": {"Message": "broken"}}, "error", "fs-00000001 is FAILED: broken"),
        ({"Lifecycle": "MISCONFIGURED"}, "warning", "fs-00000001 is MISCONFIGURED"),
        ({"lustre": {"MountName": "other"}}, "error", "fs-00000001 has the mount name other, not abcdefg"),
        ({"lustre": {"DeploymentType": "SCRATCH_2"}}, "warning", "fs-00000001 is SCRATCH_2, which loses data if a server fails"),
        ({"VpcId": "vpc-00000002"}, "warning", "fs-00000001 is in vpc-00000002, and the nodes are in vpc-00000001"),
        ({"zone": "usw2-az1"}, "warning", "fs-00000001 is in usw2-az1, and the nodes are in usw2-az4"),
    ],
)
def test_nodes_can_use_a_file_system_that_exists(changed: dict[str, Any], outcome: str, said: str) -> None:
    found = only(asked(file_systems, account(**changed), IMPORTED))
    assert (found.outcome, found.message) == (outcome, said)


def test_over_efa_it_must_be_efa_enabled_and_in_the_nodes_vpc_and_zone() -> None:
    found = asked(file_systems, account("usw2-az1", VpcId="vpc-00000002"), EFA)
    assert outcomes(found) == ["error", "error", "error"]
    assert outcomes(asked(file_systems, account(lustre={"EfaEnabled": True}), EFA)) == ["ok"]


@pytest.mark.parametrize(
    ("rules", "closed"),
    [
        ([], "988 and 1018-1023"),
        ([to("sg-another")], "988 and 1018-1023"),
        ([tcp(988, 988, "10.0.0.0/16")], "1018, 1019, 1020, 1021, 1022, 1023"),
        ([tcp(988, 1023, "10.0.2.0/24")], "988 and 1018-1023"),
    ],
)
def test_ports_that_are_closed_to_the_nodes_are_an_error(rules: list[dict[str, Any]], closed: str) -> None:
    found = only(asked(file_systems, account(rules=rules), IMPORTED))
    assert (found.outcome, found.message) == ("error", f"fs-00000001 does not accept the nodes (sg-00000001) on TCP {closed}")


def test_what_lets_nodes_in_may_be_out_of_sight() -> None:
    by_list = {"IpProtocol": "-1", "PrefixListIds": [{"PrefixListId": "pl-1"}]}
    found = only(asked(file_systems, account(rules=[by_list]), IMPORTED))
    assert (found.outcome, found.message.partition(":")[0]) == ("warning", "fs-00000001, whose rules name a prefix list")
    elsewhere = only(asked(file_systems, account(NetworkInterfaceIds=[]), IMPORTED))
    assert (elsewhere.outcome, elsewhere.message.partition(":")[0]) == ("warning", "fs-00000001, whose interfaces are not listed")


def test_nodes_with_security_groups_of_their_own_must_be_let_in_too() -> None:
    own = "overrides: {OverrideVpcConfig: {Subnets: [subnet-00000002], SecurityGroupIds: [sg-00000002]}}"
    file = IMPORTED.replace("instance_count: 4}", f"instance_count: 4, {own}}}")
    found = only(asked(file_systems, account(), file))
    assert found.message == "fs-00000001 does not accept the nodes (sg-00000002) on TCP 988 and 1018-1023"
    assert outcomes(asked(file_systems, account(rules=[to("sg-00000001", "sg-00000002")]), file)) == ["ok"]


def test_nodes_of_a_network_to_be_made_do_not_reach_it() -> None:
    found = asked(file_systems, account(), NEW_NETWORK)
    assert outcomes(found) == ["error", "warning"]
    assert found[0].message == "fs-00000001 is in vpc-00000001, and the nodes are in a new VPC"
    assert "from 10.1.0.0/16" in found[1].fix


def test_nodes_of_the_files_own_network_reach_it_there() -> None:
    made = {"cloudformation.describe_stacks": stacks(Network={"VpcId": "vpc-00000001", "SecurityGroupId": "sg-00000001"})}
    assert outcomes(asked(file_systems, account() | made, NEW_NETWORK)) == ["ok"]


def openzfs(**changed: Any) -> dict[str, Any]:
    zfs = {"FileSystemId": "fs-00000002", "FileSystemType": "OPENZFS", "DNSName": ZFS_NAME, "LustreConfiguration": None}
    return account(rules=[to("sg-00000001")], **zfs | changed)


def test_an_openzfs_file_system_is_looked_at_too() -> None:
    assert only(asked(file_systems, openzfs(), ZFS)).message == "fs-00000002 (OpenZFS) exists and accepts the nodes"
    wrong = only(asked(file_systems, openzfs(FileSystemType="LUSTRE"), ZFS))
    assert (wrong.outcome, wrong.message) == ("error", f"{ZFS_NAME}: it is of type LUSTRE in us-west-2")
    assert outcomes(asked(file_systems, openzfs(DNSName="fs-00000002.fsx.us-east-1.amazonaws.com"), ZFS)) == ["error"]
    absent = only(asked(file_systems, {"fsx.describe_file_systems": refused("FileSystemNotFound")}, ZFS))
    assert absent.message == f"{ZFS_NAME}: no such file system in us-west-2"


def test_what_is_known_of_a_file_system_is_reported() -> None:
    absent = {"fsx.describe_file_systems": refused("FileSystemNotFound")}
    assert lines(asked(file_systems, absent, IMPORTED)) == ["error: no file system fs-00000001 in us-west-2"]
    found = asked(file_systems, account(lustre={"MountName": "other"}) | {"ec2.describe_subnets": DENIED}, IMPORTED)
    assert outcomes(found) == ["error", "warning"], "what is known of it is told, and what is denied once"
    closed = asked(file_systems, account("usw2-az1", rules=[]) | {"ec2.describe_network_interfaces": DENIED}, IMPORTED)
    assert outcomes(closed) == ["warning", "warning"], "the zone, and the ports that cannot be looked at"
