"""Shared by tests of updates: two requests that differ in a count, and the update between them."""

from typing import Any

from tests.unit.cluster_resource.world import World, group, properties, request

Json = dict[str, Any]
CONTROLLER = group("controller", 1)


def workers(count: int, **more: Any) -> Json:
    """The group of workers."""
    return group("workers", count, "ml.trn1.32xlarge", **more)


FOUR = properties(request(CONTROLLER, workers(4)))
SIX = properties(request(CONTROLLER, workers(6)))


def update(world: World, physical_id: str, wanted: Json, old: Json) -> Json:
    """Update the resource, and give the answer."""
    return world.finish(world.event("Update", wanted, old, physical_id))


def counts(sent: Json) -> dict[str, int]:
    """The counts that UpdateCluster was asked for."""
    return {item["InstanceGroupName"]: item["InstanceCount"] for item in sent["InstanceGroups"]}
