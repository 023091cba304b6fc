"""A step's memory and the event together fit into the input that Step Functions accepts."""

import json
from typing import Any

import pytest

from cluster_request.kubernetes_objects.dependencies import MAX_EVENT
from tests.unit.kubernetes_resource.dependencies_world import DependenciesWorld
from tests.unit.kubernetes_resource.objects import names, namespace, role
from tests.unit.kubernetes_resource.test_claims import claim, pod, volume

Json = dict[str, Any]
MAX_INPUT = 256 * 1024
MAX_OTHER = 3_000
"""What an event and a step's input have besides the properties: ARNs, and a URL with a signature and a session token."""
TEAMS, LONGEST = 40, 253


def json_size(value: Json) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def team(number: int) -> list[Json]:
    """Return the objects of a team with a long name; each object is kept if pods use the claim."""
    space, file_system = f"hyperpod-ns-{number:02}{'t' * 40}", f"fs-{number:017}"
    items = [claim(file_system), volume(file_system)]
    items[0]["metadata"]["namespace"] = items[1]["spec"]["claimRef"]["namespace"] = space
    return [namespace(space), *items]


def use(world: DependenciesWorld, number: int) -> None:
    """Let pods with long names use the claim of a team."""
    [space, _, _] = team(number)
    for each in range(4):
        name = f"{each}{'p' * (LONGEST - 1)}"
        world.server.add(pod(name, f"fs-{number:017}", namespace=space["metadata"]["name"]))


@pytest.mark.parametrize("call_s", [0.0, 0.5])
def test_the_reasons_to_keep_the_objects_of_many_teams_fit(world: DependenciesWorld, call_s: float) -> None:
    teams = [item for number in range(TEAMS) for item in team(number)]
    world.do("Create", [*teams, role()])
    world.settle(0)
    for number in range(TEAMS):
        use(world, number)
    begun: dict[int, int] = {}

    def seconds() -> float:
        """Return the time left in a step."""
        calls = len(world.server.calls)
        return 59 - call_s * (calls - begun.setdefault(world.eks.opened, calls))

    world.seconds = seconds
    sizes: list[int] = []
    step = world.states._invoke

    def watched(payload: Json) -> Json:
        sizes.append(json_size({name: value for name, value in payload.items() if name != "event"}))
        return step(payload)

    world.states._invoke = watched
    done = world.do("Update", [role()], [*teams, role()])
    assert done["Status"] == "SUCCESS"
    assert f"PersistentVolumeClaim hyperpod-ns-00{'t' * 40}/fsx-" in done["Reason"]
    assert f"is kept: it is in use by Pod 0{'p' * 100}" in done["Reason"]
    assert len(sizes) > (5 if call_s else 2)
    assert max(sizes) + MAX_EVENT + MAX_OTHER <= MAX_INPUT
    # What is kept stays in the inventory, and a later request deletes it.
    assert world.listed() == world.ours() == names([*teams, role()])
    for key in [each for each in world.server.objects if each[1] == "pods"]:
        del world.server.objects[key]
    assert world.do("Update", [role()], [role()])["Reason"] == f"applied 1 objects; deleted {len(teams)}"
    assert world.ours() == world.listed() == names([role()])
