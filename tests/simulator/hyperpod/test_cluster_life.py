import pytest
from botocore.exceptions import ClientError

from tests.simulator.hyperpod.world import Hold, World

pytestmark = pytest.mark.local


def test_a_cluster_is_created_and_comes_into_service_with_all_its_nodes(world: World) -> None:
    arn = world.create(world.group("controller"), world.group("workers", 2))
    cluster = world.until_status("InService", "Failed")
    assert cluster["ClusterStatus"] == "InService", cluster
    assert cluster["ClusterArn"] == arn
    assert {g["InstanceGroupName"]: g["CurrentCount"] for g in cluster["InstanceGroups"]} == {"controller": 1, "workers": 2}
    assert {node["InstanceStatus"]["Status"] for node in world.nodes()} == {"Running"}


def test_a_deleted_cluster_is_gone_with_its_interfaces(world: World) -> None:
    subnet = world.ec2.create_subnet(VpcId=world.ids["vpc"], CidrBlock="10.1.5.0/24")["Subnet"]["SubnetId"]
    world.in_service(world.group("workers", 2), VpcConfig={**world.vpc(), "Subnets": [subnet]})
    with pytest.raises(ClientError, match="DependencyViolation"):
        world.ec2.delete_subnet(SubnetId=subnet)
    world.sagemaker.delete_cluster(ClusterName="ml")
    world.until_gone()
    assert world.interfaces() == []
    world.ec2.delete_subnet(SubnetId=subnet)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        world.cluster()


def test_a_cluster_is_deleting_with_nodes_that_shut_down_until_it_is_gone(world: World, hold: Hold) -> None:
    world.in_service(world.group("workers"))
    hold("hyperpod.delete")
    world.sagemaker.delete_cluster(ClusterName="ml")
    assert world.cluster()["ClusterStatus"] == "Deleting"
    assert world.cluster()["InstanceGroups"][0]["Status"] == "Deleting"
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "ShuttingDown"
    with pytest.raises(ClientError, match=r"ConflictException.*Deleting"):
        world.sagemaker.delete_cluster(ClusterName="ml")
