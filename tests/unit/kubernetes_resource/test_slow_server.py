"""An API server that is slow, but answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.kubernetes_resource.api_server import ApiServer
from tests.unit.kubernetes_resource.dependencies_world import INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import config_map, names, namespace, role, standard

Json = dict[str, Any]
STEP_S = 59.0


class SlowServer(ApiServer):
    """A server that takes seconds for each call; the function times out in a call for which it has too little time left."""

    each_s = 0.0
    used_s = 0.0
    timeouts = 0

    def __call__(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        self.used_s += self.each_s
        if self.used_s > STEP_S:
            self.timeouts += 1
            raise FunctionDied("timed out")
        return super().__call__(method, path, headers, body)

    def close(self) -> None:
        super().close()
        self.used_s = 0.0


def slow(world: DependenciesWorld, each_s: float) -> SlowServer:
    """Let each call of the API server take so long."""
    server = SlowServer(**vars(world.server))
    world.eks.server, server.each_s = server, each_s
    world.seconds = lambda: STEP_S - server.used_s
    return server


@pytest.mark.parametrize("each_s", [1, 5, 7, 8, 9])
def test_no_step_times_out_before_a_slow_server(world: DependenciesWorld, each_s: float) -> None:
    server = slow(world, each_s)
    assert (world.do("Create", standard())["Status"], server.timeouts) == ("SUCCESS", 0)
    assert world.ours() == world.listed() == names(standard())


@pytest.mark.parametrize("kind", ["Update", "Delete"])
def test_more_objects_than_a_step_can_look_at_are_deleted(world: DependenciesWorld, kind: str) -> None:
    many = [namespace(), *(config_map(f"map-{number:03}") for number in range(100))]
    world.do("Create", many)
    server = slow(world, 0.5)
    done = world.do("Delete", many) if kind == "Delete" else world.do("Update", [role()], many)
    assert (done["Status"], server.timeouts) == ("SUCCESS", 0)
    assert world.ours() == world.listed() == (set() if kind == "Delete" else names([role()]))


def test_an_object_that_leaves_the_inventory_during_a_removal_is_not_skipped(world: DependenciesWorld) -> None:
    many = [config_map(f"map-{number:03}", "default") for number in range(100)]
    world.do("Create", many)
    slow(world, 0.5)
    raw = world.deliver(world.request("Update", [role()], [config_map("another", "default"), *many]))
    world.run(100)
    assert 0 < len(world.ours()) < 100
    world.server.add(_ours(config_map("another", "default")))
    del world.server.objects["", "configmaps", "kube-system", INVENTORY]
    world.run(600)
    assert world.response(raw)["Status"] == "SUCCESS"
    assert world.ours() == world.listed() == names([role()])


def test_a_request_that_runs_out_of_time_names_the_next_object(world: DependenciesWorld) -> None:
    slow(world, 14.9)
    assert world.do("Create", standard())["Reason"].startswith("Namespace aws-hyperpod: the next step continues; ")


def _ours(item: Json) -> Json:
    labels = {"app.kubernetes.io/managed-by": "hyperpod-cdk", "hyperpod-cdk/inventory": "reference"}
    return {**item, "metadata": {**item["metadata"], "labels": labels}}
