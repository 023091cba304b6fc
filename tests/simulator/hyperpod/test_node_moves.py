"""MoveClusterNodes: nodes leave their group with their ids and addresses."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws.hyperpod import model
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import Hold

pytestmark = pytest.mark.local


@pytest.fixture
def moving(site: EksSite) -> EksSite:
    """A continuous cluster with two nodes in `a` and one in `b`."""
    groups = (site.world.group("a", 2), site.world.group("b"), site.world.group("big", 0, InstanceType="ml.c5.4xlarge"))
    site.world.in_service(*groups, **site.settings(NodeProvisioningMode="Continuous"))
    site.until_labels("node-health-status", *["Schedulable"] * 3)
    site.world.until(model.everything, lambda clusters: clusters[0].change is None)
    return site


def move(site: EksSite, target: str = "b", **which: Any) -> Any:
    arn = site.world.cluster()["ClusterArn"]
    sides = {"SourceClusterArn": arn, "SourceInstanceGroupName": "a", "TargetClusterArn": arn, "TargetInstanceGroupName": target}
    return site.world.sagemaker.move_cluster_nodes(**sides, **which)


def seen(site: EksSite) -> dict[str, tuple[str, str]]:
    """Return group and state of each node, those of `a` first."""
    found = {each["InstanceId"]: (each["InstanceGroupName"], each["InstanceStatus"]["Status"]) for each in site.world.nodes()}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def counts(site: EksSite) -> dict[str, int]:
    return {group["InstanceGroupName"]: group["TargetCount"] for group in site.world.cluster()["InstanceGroups"]}


def address_of(site: EksSite, node: str) -> str:
    return str(site.world.sagemaker.describe_cluster_node(ClusterName="ml", NodeId=node)["NodeDetails"]["PrivatePrimaryIp"])


def test_a_moved_node_keeps_its_id_and_address_and_changes_both_counts(moving: EksSite) -> None:
    node, *_, other = seen(moving)
    address = address_of(moving, node)
    answer = move(moving, NodeIds=[node, other])
    assert answer["Successful"] == [node]
    assert [(each["NodeId"], each["Code"]) for each in answer["Failed"]] == [(other, "NodeIdNotFound")]
    moving.world.until(lambda: seen(moving).get(node), lambda found: found == ("b", "Running"))
    assert counts(moving) == {"a": 1, "b": 2, "big": 0}
    assert address_of(moving, node) == address
    moving.until_labels("instance-group-name", "a", "b", "b")


@pytest.mark.parametrize(("held", "group", "status"), [("shut_down", "a", "DetachInProgress"), ("boot", "b", "AttachInProgress")])
def test_a_node_detaches_then_attaches(moving: EksSite, hold: Hold, held: str, group: str, status: str) -> None:
    hold(f"hyperpod.node.{held}")
    [node] = move(moving, InstanceCount=1)["Successful"]
    moving.world.until(lambda: seen(moving).get(node), lambda found: found == (group, status))
    assert moving.world.cluster()["ClusterStatus"] == "InService"


def test_a_move_of_no_or_too_few_nodes_is_refused(moving: EksSite) -> None:
    for target, count in (("big", 1), ("a", 1), ("b", 3)):
        with pytest.raises(ClientError, match="ValidationException"):
            move(moving, target, InstanceCount=count)
    assert counts(moving) == {"a": 2, "b": 1, "big": 0}
