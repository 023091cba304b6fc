"""A deployment that meets what an earlier one left, or an EKS cluster that was replaced under its name."""

import itertools
from typing import Any

import pytest

from kubernetes_resource.eks_access import EksCluster
from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.cluster_resource.world import STACK
from tests.unit.kubernetes_resource.api_server import ApiServer
from tests.unit.kubernetes_resource.dependencies_world import CLUSTER, INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import config_map, names, namespace, role, standard

Json = dict[str, Any]
SAME_NAME = f"{STACK.rpartition('/')[0]}/11111111-c6f0-11f0-8de9-0242ac120002"
OTHER_NAME = SAME_NAME.replace("reference-Cluster", "other-Cluster")


def send(world: DependenciesWorld, kind: str, objects: list[Json], stack: str) -> Json:
    world.clock.advance(300)
    return world.finish({**world.request(kind, objects), "StackId": stack})


def replace_cluster(world: DependenciesWorld) -> None:
    """Replace the EKS cluster by an empty one with the same name."""
    world.eks.server = ApiServer()
    world.eks.server.closed = world.eks.opened
    world.eks.found = EksCluster(CLUSTER, "ACTIVE", "https://new", "PEM")


def test_the_inventory_gets_its_new_owner_with_the_same_objects(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    send(world, "Create", standard(), SAME_NAME)
    late = world.do("Delete", standard())
    assert late["Reason"].startswith(f"not deleted: ConfigMap kube-system/{INVENTORY} belongs to ")
    assert world.ours() == names(standard())


@pytest.mark.parametrize("stack", [OTHER_NAME, SAME_NAME.replace("us-west-2", "us-east-1")])
def test_another_stack_is_refused_with_the_way_out(world: DependenciesWorld, stack: str) -> None:
    world.do("Create", standard())
    reason = send(world, "Create", standard(), stack)["Reason"]
    fix = f"delete that stack; if it no longer exists, delete only the ConfigMap kube-system/{INVENTORY}, and deploy again"
    assert reason.endswith(f"; {fix}")
    key = next(each for each in world.server.objects if each[3] == INVENTORY)
    del world.server.objects[key]
    assert send(world, "Create", standard(), stack)["Reason"] == "applied 5 objects"


def test_a_namespace_that_was_kept_is_used_again_by_any_stack(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.add(config_map("mine"))
    assert world.do("Delete", standard())["Reason"] == "Namespace aws-hyperpod is kept: it holds ConfigMap mine"
    assert send(world, "Create", standard(), OTHER_NAME)["Reason"] == "applied 5 objects"
    assert world.server.find("ConfigMap", "mine", "aws-hyperpod")


def test_an_update_fills_a_cluster_that_was_replaced_under_its_name(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    replace_cluster(world)
    assert world.do("Update", [namespace(), role()], standard())["Status"] == "SUCCESS"
    assert world.ours() == world.listed() == names([namespace(), role()])


def test_a_request_starts_again_on_a_cluster_that_was_replaced_meanwhile(world: DependenciesWorld) -> None:
    world.seconds = lambda: 59.0 - 8 * len(world.server.calls)
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(40)
    assert world.ours()
    replace_cluster(world)
    world.seconds = lambda: 59.0
    world.run(600)
    assert world.response(raw)["Status"] == "SUCCESS"
    assert world.ours() == names(standard())


def test_a_delete_on_a_cluster_that_was_replaced_under_its_name_succeeds(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    replace_cluster(world)
    assert world.do("Delete", standard())["Reason"] == "all objects are deleted"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_at_any_call_of_a_succession_converges(moment: str) -> None:
    for index in itertools.count():
        world = DependenciesWorld()
        world.do("Create", standard())
        number = len(world.server.calls) + index
        getattr(world.server, moment)[number] = FunctionDied(f"{moment} call {index}")
        assert send(world, "Create", [namespace(), role()], SAME_NAME)["Status"] == "SUCCESS"
        assert world.ours() == world.listed() == names([namespace(), role()])
        if len(world.server.calls) <= number:
            assert index > 10
            break
