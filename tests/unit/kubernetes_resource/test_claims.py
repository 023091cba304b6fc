"""Volume claims that pods use neither block a deployment nor lose their volume."""

import itertools
from typing import Any

import pytest

from kubernetes_resource.objects import Reference
from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.kubernetes_resource.dependencies_world import DependenciesWorld
from tests.unit.kubernetes_resource.objects import names, namespace

Json = dict[str, Any]
SPACE = "hyperpod-ns-research"
USED = "it is in use by Pod job-0"


def volume(file_system: str = "fs-1") -> Json:
    reference = {"kind": "PersistentVolumeClaim", "namespace": SPACE, "name": f"fsx-{file_system}"}
    spec = {"capacity": {"storage": "1200Gi"}, "claimRef": reference}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"fsx-{file_system}"}, "spec": spec}


def claim(file_system: str = "fs-1") -> Json:
    metadata = {"name": f"fsx-{file_system}", "namespace": SPACE}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {"volumeName": f"fsx-{file_system}"},
    }


def pod(name: str = "job-0", file_system: str = "fs-1", **metadata: Any) -> Json:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"fsx-{file_system}"}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": SPACE, **metadata},
        "spec": {"volumes": volumes},
    }


def objects(file_system: str = "fs-1") -> list[Json]:
    return [namespace(SPACE), volume(file_system), claim(file_system)]


def end_pods(world: DependenciesWorld) -> None:
    for key in [each for each in world.server.objects if each[1] == "pods"]:
        del world.server.objects[key]


def delete_claim(world: DependenciesWorld) -> None:
    """Delete the claim as a user."""
    server = world.server
    [key] = [each for each in server.objects if each[1] == "persistentvolumeclaims"]
    server.objects[key].live["metadata"]["deletionTimestamp"] = "2026-11-21T09:00:00Z"
    server.settle()


@pytest.fixture
def used(world: DependenciesWorld) -> DependenciesWorld:
    """A claim that a pod uses."""
    world.do("Create", objects())
    world.server.add(pod())
    return world


def test_another_file_system_is_added_while_pods_use_the_old_one(used: DependenciesWorld) -> None:
    done = used.do("Update", objects("fs-2"), objects())
    assert (done["Status"], done["Reason"]) == (
        "SUCCESS",
        f"applied 3 objects; PersistentVolumeClaim {SPACE}/fsx-fs-1 is kept: {USED}; "
        f"PersistentVolume fsx-fs-1 is kept: it is bound to PersistentVolumeClaim {SPACE}/fsx-fs-1",
    )
    assert used.ours() == names([*objects(), *objects("fs-2")])
    assert "deletionTimestamp" not in (used.server.find("PersistentVolume", "fsx-fs-1") or {})["metadata"]


def test_a_rollback_to_the_old_file_system_finds_its_claim(used: DependenciesWorld) -> None:
    used.do("Update", objects("fs-2"), objects())
    assert used.do("Update", objects(), objects("fs-2"))["Reason"] == "applied 3 objects; deleted 2"
    assert used.ours() == names(objects())


def test_a_delete_keeps_a_claim_in_use_with_its_volume_and_namespace(used: DependenciesWorld) -> None:
    done = used.do("Delete", objects())
    assert done["Status"] == "SUCCESS"
    assert done["Reason"].startswith(
        f"PersistentVolumeClaim {SPACE}/fsx-fs-1 is kept: {USED}; PersistentVolume fsx-fs-1 is kept: "
    )
    assert done["Reason"].endswith(f"Namespace {SPACE} is kept: it holds Pod job-0")
    assert used.do("Create", objects())["Reason"] == "applied 3 objects"


def test_the_volume_of_a_used_claim_is_kept_before_they_are_bound(
    used: DependenciesWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.unit.kubernetes_resource.api_server.settle_claim", lambda *_: None)
    used.server.edit("PersistentVolume", "fsx-fs-1", lambda live: live["spec"]["claimRef"].pop("uid"))
    reason = used.do("Delete", objects())["Reason"]
    assert f"PersistentVolume fsx-fs-1 is kept: it is bound to PersistentVolumeClaim {SPACE}/fsx-fs-1" in reason


def test_unused_claims_are_deleted_before_their_volumes(world: DependenciesWorld) -> None:
    world.do("Create", objects())
    world.server.add(pod(file_system="fs-3"))
    end_pods(world)
    assert world.do("Delete", objects())["Reason"] == "all objects are deleted"
    deleted = [path.rsplit("/", 2)[-2] for method, path in world.server.calls if method == "DELETE"]
    assert deleted == ["persistentvolumeclaims", "persistentvolumes", "namespaces", "configmaps"]


def test_a_claim_that_a_user_deleted_while_pods_use_it_does_not_hold_up_a_delete(used: DependenciesWorld) -> None:
    delete_claim(used)
    started = used.clock.now
    assert used.do("Delete", objects())["Status"] == "SUCCESS"
    assert (used.clock.now - started).total_seconds() < 600


def test_a_claim_that_a_user_deleted_while_pods_use_it_is_a_named_error(used: DependenciesWorld) -> None:
    delete_claim(used)
    assert used.do("Update", objects(), objects())["Reason"] == (
        f"PersistentVolumeClaim {SPACE}/fsx-fs-1: is being deleted, but {USED}; delete what uses it, then deploy again"
    )
    end_pods(used)
    assert used.do("Update", objects(), objects())["Status"] == "SUCCESS"


def test_claims_come_after_volumes() -> None:
    assert Reference.of(claim()).rank > Reference.of(volume()).rank > Reference.of(namespace()).rank


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("is_used", [True, False])
def test_a_crash_at_any_call_of_a_change_of_the_file_system_converges(moment: str, is_used: bool) -> None:
    for index in itertools.count():
        world = DependenciesWorld()
        world.do("Create", objects())
        if is_used:
            world.server.add(pod())
        number = len(world.server.calls) + index
        getattr(world.server, moment)[number] = FunctionDied(f"{moment} call {index}")
        assert world.do("Update", objects("fs-2"), objects())["Status"] == "SUCCESS"
        expected = names([*objects("fs-2"), *(objects() if is_used else ())])
        assert (world.ours(), world.listed()) == (expected, expected)
        if len(world.server.calls) <= number:
            assert index > 10
            break
