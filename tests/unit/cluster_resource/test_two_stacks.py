"""Two stacks with the same cluster name: the first keeps its cluster, the second fails."""

import pytest

from tests.unit.cluster_resource.updates import CONTROLLER, Json, workers
from tests.unit.cluster_resource.world import STACK, World, properties, request

SECOND = STACK.replace("reference-Cluster", "copy-Cluster").replace("5a7d3b10", "99999999")
FOUR = properties(request(CONTROLLER, workers(4)), ClusterName="shared")
SIX = properties(request(CONTROLLER, workers(6)), ClusterName="shared")


def of_second(world: World, kind: str, wanted: Json, old: Json | None = None, physical_id: str = "") -> Json:
    """The answer to a request of the second stack's."""
    return world.finish(world.event(kind, wanted, old, physical_id, StackId=SECOND))


@pytest.mark.fault(55)
def test_a_second_stack_with_the_same_name_fails_and_its_rollback_keeps_the_cluster(world: World) -> None:
    world.create(FOUR)
    done = of_second(world, "Create", SIX)
    assert done["Status"] == "FAILED"
    assert "reference-Cluster" in done["Reason"]
    assert of_second(world, "Delete", SIX, physical_id="shared")["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["shared"]
    assert world.sagemaker.changes() == []


@pytest.mark.fault(55)
def test_the_first_stack_continues_with_its_cluster(world: World) -> None:
    world.create(FOUR)
    of_second(world, "Create", SIX)
    assert world.finish(world.event("Update", SIX, FOUR, "shared"))["Status"] == "SUCCESS"
    assert world.finish(world.event("Delete", SIX, physical_id="shared"))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(2)
@pytest.mark.fault(55)
def test_an_update_of_the_second_stack_to_the_same_name_changes_nothing(world: World) -> None:
    world.create(FOUR)
    own = of_second(world, "Create", properties(request(CONTROLLER, workers(4)), ClusterName="own"))["PhysicalResourceId"]
    world.sagemaker.calls.clear()
    done = of_second(world, "Update", SIX, old=properties(request(CONTROLLER, workers(4)), ClusterName="own"), physical_id=own)
    assert done["Status"] == "FAILED"
    assert done["PhysicalResourceId"] == own
    assert world.sagemaker.changes() == []
