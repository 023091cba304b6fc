"""What AWS's sources leave open is a switch: the worse case is the default."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from cluster_resource.cluster_api import ClusterApi
from cluster_resource.desired import Desired
from cluster_resource.event import Event
from cluster_resource.observed import Cluster
from cluster_resource.plan import plan
from cluster_resource.refusals import refusal
from local_aws.hyperpod import service_behaviour
from tests.simulator.eks.world import trust
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import World
from tests.unit.cluster_resource.removals import CLUSTER, GROUP, REFUSED
from tests.unit.cluster_resource.world import STACK

HEAD = {"NodeType": "Controller", "PartitionNames": []}
VOLUMES = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}, {"EbsVolumeConfig": {"RootVolume": True}}]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    service_behaviour.reset()


def shown(world: World) -> dict[str, Any]:
    name = world.create(world.group("a", InstanceStorageConfigs=VOLUMES, SlurmConfig=HEAD))
    described: dict[str, Any] = world.sagemaker.describe_cluster(ClusterName=name)
    return described


def test_a_description_has_the_defaults_and_no_empty_lists(world: World) -> None:
    described = shown(world)
    (group,) = described["InstanceGroups"]
    assert (described["NodeRecovery"], group["MinCount"]) == ("Automatic", 0)
    assert group["SlurmConfig"] == {"NodeType": "Controller"}
    assert group["InstanceStorageConfigs"] == [VOLUMES[1], {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": False}}]


def test_a_description_can_repeat_the_request(world: World) -> None:
    service_behaviour.choose({"echo": "exact"})
    described = shown(world)
    (group,) = described["InstanceGroups"]
    assert "NodeRecovery" not in described
    assert group["InstanceStorageConfigs"] == VOLUMES
    assert group["SlurmConfig"] == HEAD


def test_a_slurm_cluster_can_be_continuous_by_default(world: World) -> None:
    service_behaviour.choose({"provisioning": "continuous"})
    with pytest.raises(ClientError, match="has no InstanceGroup with SlurmConfig which is required for Continuous"):
        world.create(world.group("a"))
    head = world.group("a", SlurmConfig={"NodeType": "Controller"})
    described = world.sagemaker.describe_cluster(ClusterName=world.create(head))
    assert described["NodeProvisioningMode"] == "Continuous"


def test_an_unknown_behaviour_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"echo=loud: unknown; available: .*echo=\("):
        service_behaviour.choose({"echo": "loud"})


@pytest.mark.parametrize(
    ("member", "left_out"),
    [
        *((member, left_out) for member in sorted((GROUP.keys() | CLUSTER.keys()) - REFUSED) for left_out in ("keep", "drop")),
        *((member, "keep") for member in sorted(REFUSED - {"OverrideVpcConfig"})),  # before any call, so the same in both
    ],
)
def test_a_member_that_the_file_removes_is_unset_or_refused(site: EksSite, member: str, left_out: str) -> None:
    service_behaviour.choose({"left_out": left_out})
    world, value = site.world, (GROUP | CLUSTER)[member]
    of_group, of_cluster = ({member: value}, {}) if member in GROUP else ({}, {member: value})
    create = world.create if member in REFUSED else world.in_service
    made = {"RoleName": f"{member}-{left_out}", "AssumeRolePolicyDocument": trust("hyperpod.sagemaker.amazonaws.com")}
    role = {"ClusterRole": world.client("iam").create_role(**made)["Role"]["Arn"]} if member == "AutoScaling" else {}
    create(world.group("a", 3, **of_group), NodeProvisioningMode="Continuous", **site.settings(**of_cluster, **role))
    old = {"InstanceGroups": [world.group("a", 3, **of_group)], **of_cluster}
    desired = removal(old, {"InstanceGroups": [world.group("a", 3)]})
    cluster = observed(world)
    assert bool(refusal(desired, cluster)) is (member in REFUSED)
    if member not in REFUSED:
        assert plan(desired, cluster, {}).unset
        world.sagemaker.update_cluster(**plan(desired, cluster, {}).arguments)
        world.until_status("InService")
        assert plan(desired, observed(world), {}).differences == ()


@pytest.mark.parametrize("left_out", ["keep", "drop"])
def test_an_update_keeps_or_drops_what_it_leaves_out(world: World, left_out: str) -> None:
    service_behaviour.choose({"left_out": left_out})
    left = ["ScheduledUpdateConfig"]
    world.in_service(world.group("a", **{each: GROUP[each] for each in left}))
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a")])
    (group,) = world.cluster()["InstanceGroups"]
    assert [each for each in left if each in group] == (left if left_out == "keep" else [])


def removal(old: dict[str, Any], new: dict[str, Any]) -> Desired:
    """The update that removes what only ``old`` has."""
    event = {"RequestType": "Update", "PhysicalResourceId": "ml", "RequestId": "1", "StackId": STACK, "LogicalResourceId": "C"}
    properties = {"ResourceProperties": {"Request": new}, "OldResourceProperties": {"Request": old}}
    shape = ClusterApi(boto3.client("sagemaker", region_name="us-west-2")).request_shape
    raw = {**event, **properties, "ResponseURL": "https://x", "ResourceType": "Custom::HyperPodCluster"}
    return Desired.of(Event.parse(raw), shape)


def observed(world: World) -> Cluster:
    """The cluster as the custom resource sees it."""
    found = ClusterApi(world.sagemaker).cluster("ml", is_deletion=False)
    assert found
    return found
