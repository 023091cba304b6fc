"""A change to a create-only value creates a new cluster, if possible, and deletes the old one."""

from typing import Any

import pytest

from tests.unit.cluster_resource.world import ROLE, World, properties, request

OLD_SUBNET, NEW_SUBNET = "subnet-0aaaaaaaaaaaaaaa0", "subnet-0bbbbbbbbbbbbbbb0"


def wanted(subnet: str, **more: Any) -> dict[str, Any]:
    return properties(request(subnet=subnet), **more)


@pytest.mark.fault(39)
def test_another_network_creates_a_new_cluster_and_the_clean_up_deletes_the_old_one(world: World) -> None:
    old = wanted(OLD_SUBNET)
    first = world.create(old)["PhysicalResourceId"]
    new = wanted(NEW_SUBNET)
    done = world.finish(world.event("Update", new, old, first))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] != first
    assert sorted(world.sagemaker.living()) == sorted([first, done["PhysicalResourceId"]])
    world.finish(world.event("Delete", old, physical_id=first))
    assert world.sagemaker.living() == [done["PhysicalResourceId"]]


@pytest.mark.fault(41)
def test_a_blocked_clean_up_fails_with_the_missing_permission_and_raises_an_alarm(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = wanted(OLD_SUBNET), wanted(NEW_SUBNET)
    first = world.create(old)["PhysicalResourceId"]
    world.finish(world.event("Update", new, old, first))
    cluster = world.sagemaker.find(first)
    assert cluster
    world.sagemaker.deletion_s = None
    cluster.node_message = "The role does not have permission to perform ec2:DeleteNetworkInterface"
    capsys.readouterr()
    done = world.finish(world.event("Delete", old, physical_id=first))
    assert done["Status"] == "FAILED"
    assert "ec2:DeleteNetworkInterface" in done["Reason"]
    assert '"alarm": "deletion failed"' in capsys.readouterr().out


@pytest.mark.fault(38)
def test_another_network_under_a_fixed_name_is_refused_before_any_call(world: World) -> None:
    old = wanted(OLD_SUBNET, ClusterName="ml")
    world.create(old)
    done = world.finish(world.event("Update", wanted(NEW_SUBNET, ClusterName="ml"), old, "ml"))
    assert "remove or change `cluster_name`" in done["Reason"]
    assert done["PhysicalResourceId"] == "ml"
    assert not world.sagemaker.changes()


@pytest.mark.fault(39)
def test_another_fixed_name_creates_another_cluster(world: World) -> None:
    old = wanted(OLD_SUBNET, ClusterName="one")
    world.create(old)
    done = world.finish(world.event("Update", wanted(OLD_SUBNET, ClusterName="two"), old, "one"))
    assert done["PhysicalResourceId"] == "two"


EKS = "arn:aws:eks:us-west-2:123456789012:cluster/{}"


def on_eks(subnet: str = OLD_SUBNET, eks: str = "prod", **more: Any) -> dict[str, Any]:
    group = {"InstanceGroupName": "workers", "InstanceCount": 1, "InstanceType": "ml.c5.xlarge", "ExecutionRole": ROLE}
    vpc = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": [subnet]}
    orchestrator = {"Eks": {"ClusterArn": EKS.format(eks)}}
    return properties({"InstanceGroups": [group], "VpcConfig": vpc, "Orchestrator": orchestrator}, **more)


@pytest.mark.fault(95)
@pytest.mark.only_mode("scripts", reason="a cluster on EKS has no Slurm")
@pytest.mark.parametrize(("change", "field"), [({"subnet": NEW_SUBNET}, "Subnets"), ({"ClusterName": "two"}, "cluster_name")])
def test_a_replacement_on_the_same_eks_cluster_is_refused_before_any_call(
    world: World, change: dict[str, Any], field: str
) -> None:
    old, new = on_eks(), on_eks(**change)
    first = world.create(old)["PhysicalResourceId"]
    done = world.finish(world.event("Update", new, old, first))
    assert (done["Status"], done["PhysicalResourceId"]) == ("FAILED", first)
    assert done["Reason"].startswith(f"{field} of cluster {first} cannot change: this replaces the cluster, ")
    assert "run `cdk destroy reference/Addons reference/Cluster`, then deploy again" in done["Reason"]
    assert world.finish(world.event("Update", old, new, first))["Status"] == "SUCCESS"
    assert not world.sagemaker.changes()


def test_another_eks_cluster_replaces_the_cluster(world: World) -> None:
    old, new = on_eks(), on_eks(eks="other")
    first = world.create(old)["PhysicalResourceId"]
    done = world.finish(world.event("Update", new, old, first))
    assert (done["Status"], done["PhysicalResourceId"] != first) == ("SUCCESS", True)


def test_a_deleted_cluster_on_eks_can_be_replaced(world: World) -> None:
    old, new = on_eks(), on_eks(NEW_SUBNET)
    first = world.create(old)["PhysicalResourceId"]
    world.sagemaker.all[0].go()
    done = world.finish(world.event("Update", new, old, first))
    assert (done["Status"], done["PhysicalResourceId"] != first) == ("SUCCESS", True)


def test_removing_a_fixed_name_keeps_the_cluster(world: World) -> None:
    old = wanted(OLD_SUBNET, ClusterName="one")
    world.create(old)
    done = world.finish(world.event("Update", wanted(OLD_SUBNET), old, "one"))
    assert done["PhysicalResourceId"] == "one"
    assert not world.sagemaker.changes()


@pytest.mark.fault(59)
def test_a_name_that_this_release_would_generate_differently_keeps_its_cluster(world: World) -> None:
    """The cluster's name came from another release's way of hashing; its network is what the file says."""
    raw = world.event("Create", wanted(OLD_SUBNET, ClusterName="reference-0123456789ab"))
    world.finish(raw)
    world.sagemaker.calls.clear()
    done = world.finish(world.event("Update", wanted(OLD_SUBNET), wanted(OLD_SUBNET), "reference-0123456789ab"))
    assert done["PhysicalResourceId"] == "reference-0123456789ab"
    assert not world.sagemaker.changes()


@pytest.mark.fault(40)
def test_the_cluster_of_a_replacement_without_a_response_is_deleted_by_the_rollback(world: World) -> None:
    old, new = wanted(OLD_SUBNET), wanted(NEW_SUBNET)
    first = world.create(old)["PhysicalResourceId"]
    world.sagemaker.creation_fails = "no luck"
    failed = world.finish(world.event("Update", new, old, first))
    assert failed["Status"] == "FAILED"
    assert failed["PhysicalResourceId"] == first
    assert len(world.sagemaker.living()) == 2
    done = world.finish(world.event("Update", old, new, first))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == first
    assert done["Data"]["ClusterArn"] == world.sagemaker.all[0].arn
    assert world.sagemaker.living() == [first]


@pytest.mark.parametrize("new", [wanted(NEW_SUBNET), wanted(OLD_SUBNET, ClusterName="one")], ids=["subnet", "name"])
def test_a_rollback_that_names_the_new_cluster_returns_to_the_old_one(world: World, new: dict[str, Any]) -> None:
    old = wanted(OLD_SUBNET)
    first = world.create(old)["PhysicalResourceId"]
    second = world.finish(world.event("Update", new, old, first))["PhysicalResourceId"]
    done = world.finish(world.event("Update", old, new, second))
    assert done["PhysicalResourceId"] == first
    world.finish(world.event("Delete", new, physical_id=second))
    assert world.sagemaker.living() == [first]


@pytest.mark.parametrize("address", [{}, {"ResponseURL": "https://bucket/without-a-date"}], ids=["dated", "undated"])
def test_the_clean_up_after_a_repeated_replacement_keeps_the_new_cluster(world: World, address: dict[str, Any]) -> None:
    old, new = wanted(OLD_SUBNET), wanted(NEW_SUBNET)
    first = world.create(old)["PhysicalResourceId"]
    world.sagemaker.creation_fails = "no luck"
    world.finish(world.event("Update", new, old, first, **address))
    world.finish(world.event("Update", old, new, first, **address))
    world.sagemaker.creation_fails = ""
    second = world.finish(world.event("Update", new, old, first, **address))["PhysicalResourceId"]
    assert world.finish(world.event("Delete", old, physical_id=first, **address))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == [second]


def test_requests_of_the_same_time_do_not_mark_each_other_as_leftover(world: World) -> None:
    """A refused update and its rollback are over at once; the clean-up after the third update spares what that one made."""
    old, refused = wanted(OLD_SUBNET), properties({**request(subnet=OLD_SUBNET), "InstanceGroups": []})
    new = wanted(NEW_SUBNET, ClusterName="ml")
    first = world.create(old)["PhysicalResourceId"]
    world.finish(world.event("Update", refused, old, first))
    world.finish(world.event("Update", old, refused, first))
    assert world.finish(world.event("Update", new, old, first))["PhysicalResourceId"] == "ml"
    world.finish(world.event("Delete", old, physical_id=first))
    assert world.sagemaker.living() == ["ml"]
