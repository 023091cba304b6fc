"""A deployment fails if an add-on stays DEGRADED, which CloudFormation accepts (terraform-provider-aws issue 44669)."""

from typing import Any

import pytest

from tests.unit.cluster_resource.calls_world import minutes
from tests.unit.kubernetes_resource.dependencies_world import CLUSTER, DependenciesWorld

MESSAGE = "The add-on is unhealthy because it doesn't have the desired number of replicas."
DEGRADED = {"status": "DEGRADED", "health": {"issues": [{"code": "InsufficientNumberOfReplicas", "message": MESSAGE}]}}
ACTIVE = {"status": "ACTIVE", "health": {"issues": []}}


@pytest.fixture(autouse=True)
def addons(world: DependenciesWorld) -> None:
    world.eks.addons = {"vpc-cni": ACTIVE, "coredns": DEGRADED}


def request(world: DependenciesWorld, kind: str, name: str = "new", old: str = "old") -> Any:
    """Return an event of the check; the name changes with the add-ons, and the ID has that of the last success."""
    new, before = (
        {"ClusterName": CLUSTER, "Name": f"addons-{each}", "Addons": {"vpc-cni": "same", "coredns": each}} for each in (name, old)
    )
    named = {"ResourceType": "Custom::HyperPodAddonHealth", "LogicalResourceId": "AddonHealth"}
    physical_id = {} if kind == "Create" else {"PhysicalResourceId": f"{CLUSTER}/addons-old"}
    world.clock.advance(300)
    return {**world.event(kind, new, before if kind == "Update" else None), **named, **physical_id}


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_an_addon_that_stays_degraded_fails_the_deployment_with_its_name_and_reason(world: DependenciesWorld, kind: str) -> None:
    done = world.finish(request(world, kind))
    assert (done["Status"], done["Reason"]) == (
        "FAILED",
        f"Addons: add-on coredns is DEGRADED: InsufficientNumberOfReplicas: {MESSAGE[:-1]}; correct the cause, then deploy again",
    )
    assert 20 <= minutes(world) < 25
    assert world.finish(request(world, "Delete"))["Status"] == "SUCCESS"


def test_an_addon_has_time_to_start_its_pods(world: DependenciesWorld) -> None:
    raw = request(world, "Create")
    world.deliver(raw)
    world.run(900)
    world.eks.addons["coredns"] = ACTIVE
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_an_addon_that_the_file_does_not_change_is_not_checked_again(world: DependenciesWorld) -> None:
    world.eks.addons = {"vpc-cni": DEGRADED, "coredns": ACTIVE}  # a node of a running cluster is NotReady
    assert world.finish(request(world, "Update"))["Status"] == "SUCCESS"
    assert world.finish(request(world, "Create"))["Status"] == "FAILED"


def test_a_degraded_addon_does_not_block_a_rollback(world: DependenciesWorld) -> None:
    assert world.finish(request(world, "Update", "new"))["Status"] == "FAILED"
    done = world.finish(request(world, "Update", "old", old="new"))  # CloudFormation keeps the ID of the last success
    assert (done["Status"], minutes(world) < 2) == ("SUCCESS", True)
