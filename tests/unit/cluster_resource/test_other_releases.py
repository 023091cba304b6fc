"""Properties, tags and memory of an older or newer release: known fields are read, others are kept."""

import pytest

from tests.unit.cluster_resource.updates import CONTROLLER, FOUR, SIX, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request

SINCE_ADDED = ("PropertiesVersion", "Wait", "WaitHours", "NetworkIdentity", "ControllerGroup", "AvailabilityZoneId", "Adopt")


def of_an_older_release(count: int) -> Json:
    """Properties without whatever came after the request itself."""
    wanted = properties(request(CONTROLLER, workers(count)))
    return {name: value for name, value in wanted.items() if name not in SINCE_ADDED}


@pytest.mark.fault(44)
def test_properties_of_an_older_release_create_update_and_delete(world: World) -> None:
    name = world.create(of_an_older_release(4))["PhysicalResourceId"]
    assert update(world, name, of_an_older_release(6), of_an_older_release(4))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["UpdateCluster"]
    done = world.finish(world.event("Delete", of_an_older_release(6), physical_id=name))
    assert done["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(44)
def test_an_update_from_an_older_releases_properties_changes_only_what_differs(world: World) -> None:
    name = world.create(of_an_older_release(4))["PhysicalResourceId"]
    assert update(world, name, FOUR, of_an_older_release(4))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == []


@pytest.mark.fault(59)
def test_a_cluster_tagged_by_a_newer_release_is_still_owned_and_keeps_its_tags(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    newer = {"hyperpod-cdk:version": "9", "hyperpod-cdk:generation": "3"}
    world.sagemaker.all[0].tags.update(newer)
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["UpdateCluster"]
    assert newer.items() <= world.sagemaker.all[0].tags.items()
    assert world.finish(world.event("Delete", SIX, physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []
