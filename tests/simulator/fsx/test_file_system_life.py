import pytest
from botocore.exceptions import ClientError

from local_aws import faults
from tests.simulator.fsx.world import Hold, World

pytestmark = pytest.mark.local


def test_a_file_system_is_created_and_becomes_available_with_the_names_that_clients_mount(world: World) -> None:
    made = world.fsx.create_file_system(**world.request())["FileSystem"]
    assert made["Lifecycle"] == "CREATING"
    seen = world.until_lifecycle(made["FileSystemId"], "AVAILABLE")
    assert seen["DNSName"] == f"{made['FileSystemId']}.fsx.us-west-2.amazonaws.com"
    assert seen["VpcId"] == world.ids["vpc"]
    lustre = seen["LustreConfiguration"]
    assert len(lustre["MountName"]) == 8
    assert (lustre["PerUnitStorageThroughput"], lustre["DataCompressionType"]) == (250, "LZ4")


def test_its_interfaces_hold_the_subnet_and_the_group_until_it_is_gone(world: World) -> None:
    ec2 = world.ec2
    subnet = ec2.create_subnet(VpcId=world.ids["vpc"], CidrBlock="10.1.9.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(VpcId=world.ids["vpc"], GroupName="own", Description="own")["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    file_system_id = world.available(SubnetIds=[subnet], SecurityGroupIds=[group])
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_subnet(SubnetId=subnet)
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_security_group(GroupId=group)
    world.fsx.delete_file_system(FileSystemId=file_system_id)
    world.until_gone()
    ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_security_group(GroupId=group)


def test_a_file_system_that_is_deleted_says_so_until_it_is_gone(world: World, hold: Hold) -> None:
    file_system_id = world.create()
    hold("fsx.delete")
    assert world.fsx.delete_file_system(FileSystemId=file_system_id)["Lifecycle"] == "DELETING"
    assert world.file_system(file_system_id)["Lifecycle"] == "DELETING"


def test_a_file_system_whose_group_lets_no_lustre_through_is_refused(world: World) -> None:
    group = world.ec2.create_security_group(VpcId=world.ids["vpc"], GroupName="closed", Description="closed")["GroupId"]
    rule = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "UserIdGroupPairs": [{"GroupId": group}]}
    with pytest.raises(ClientError, match=r"InvalidNetworkSettings.*port 988"):
        world.create(SecurityGroupIds=[group])
    world.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    with pytest.raises(ClientError, match=r"InvalidNetworkSettings.*port 1018"):
        world.create(SecurityGroupIds=[group])


def test_a_group_of_another_vpc_is_refused(world: World) -> None:
    vpc = world.ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    group = world.ec2.create_security_group(VpcId=vpc, GroupName="far", Description="far")["GroupId"]
    with pytest.raises(ClientError, match="InvalidNetworkSettings"):
        world.create(SecurityGroupIds=[group])


def test_the_same_token_makes_one_file_system_and_other_parameters_are_refused(world: World) -> None:
    first = world.create(ClientRequestToken="once")
    assert world.create(ClientRequestToken="once") == first
    with pytest.raises(ClientError, match="IncompatibleParameterError"):
        world.create(ClientRequestToken="once", StorageCapacity=2400)
    assert len(world.fsx.describe_file_systems()["FileSystems"]) == 1


def test_a_creation_that_is_to_fail_ends_in_failed_and_says_why(world: World) -> None:
    faults.order(faults.Fault("fsx:CreateFileSystem", kind="fail", message="no capacity in use1-az4"))
    seen = world.until_lifecycle(world.create(), "FAILED")
    assert seen["FailureDetails"]["Message"] == "no capacity in use1-az4"


def test_an_update_holds_after_a_while_and_grows_only(world: World, hold: Hold) -> None:
    file_system_id = world.available()
    world.fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=2400)
    seen = world.until_lifecycle(file_system_id, "AVAILABLE")
    assert seen["StorageCapacity"] == 2400
    assert seen["AdministrativeActions"][0]["Status"] == "COMPLETED"
    with pytest.raises(ClientError, match="must grow"):
        world.fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=1200)
    hold("fsx.update")
    world.fsx.update_file_system(FileSystemId=file_system_id, LustreConfiguration={"DataCompressionType": "NONE"})
    with pytest.raises(ClientError, match="UPDATING and cannot be updated"):
        world.fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=4800)


def test_a_lustre_version_can_only_be_raised(world: World) -> None:
    file_system_id = world.available(FileSystemTypeVersion="2.12")
    world.fsx.update_file_system(FileSystemId=file_system_id, FileSystemTypeVersion="2.15")
    assert world.until_lifecycle(file_system_id, "AVAILABLE")["FileSystemTypeVersion"] == "2.15"
    with pytest.raises(ClientError, match="can only be raised"):
        world.fsx.update_file_system(FileSystemId=file_system_id, FileSystemTypeVersion="2.12")


def test_tags_are_added_listed_and_removed(world: World) -> None:
    file_system_id = world.create(Tags=[{"Key": "a", "Value": "1"}])
    arn = world.file_system(file_system_id)["ResourceARN"]
    world.fsx.tag_resource(ResourceARN=arn, Tags=[{"Key": "b", "Value": "2"}])
    world.fsx.untag_resource(ResourceARN=arn, TagKeys=["a"])
    assert world.fsx.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "b", "Value": "2"}]


def test_a_file_system_that_does_not_exist_is_not_found(world: World) -> None:
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        world.file_system("fs-0123456789abcdef0")


def test_file_systems_come_in_pages(world: World) -> None:
    made = {world.create() for _ in range(3)}
    pages = world.fsx.get_paginator("describe_file_systems").paginate(PaginationConfig={"PageSize": 2})
    seen = [[one["FileSystemId"] for one in answer["FileSystems"]] for answer in pages]
    assert [len(ids) for ids in seen] == [2, 1]
    assert {one for ids in seen for one in ids} == made
