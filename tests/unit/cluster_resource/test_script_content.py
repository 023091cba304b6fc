"""No node starts, and no pointer moves, with scripts that are not those of the deployment."""

import hashlib
from typing import Any

from tests.unit.cluster_resource.rollout_world import RolloutWorld
from tests.unit.cluster_resource.world import World, group, properties, request

FILE = b"true\n"
FINGERPRINT = hashlib.sha256(b"on_create.sh\0005\0" + FILE).hexdigest()
SCRIPTS = {"Bucket": "sagemaker-reference", "Prefix": "lifecycle/a/fs-1", "Fingerprint": FINGERPRINT, "Parameters": "{}"}
CHANGED = "the scripts in s3://sagemaker-reference/lifecycle/a/fs-1 are not those of this deployment"


def upload(world: World, content: bytes) -> None:
    world.s3.objects = {"lifecycle/a/fs-1/on_create.sh": content}


def larger() -> dict[str, Any]:
    return properties(request(group("controller", 1), group("workers", 8, "ml.trn1.32xlarge")), Scripts=SCRIPTS)


def created(world: World) -> str:
    """Create a cluster, and return its name."""
    upload(world, FILE)
    done = world.finish(world.event("Create", properties(Scripts=SCRIPTS)))
    assert done["Status"] == "SUCCESS"
    return str(done["PhysicalResourceId"])


def test_a_cluster_is_not_created_with_changed_scripts(world: World) -> None:
    upload(world, b"evil\n")
    done = world.finish(world.event("Create", properties(Scripts=SCRIPTS)))
    assert done["Status"] == "FAILED"
    assert CHANGED in done["Reason"]
    assert "CreateCluster" not in world.sagemaker.changes()


def test_nodes_are_not_added_with_changed_scripts(world: World) -> None:
    name = created(world)
    upload(world, b"evil\n")
    done = world.finish(world.event("Update", larger(), properties(Scripts=SCRIPTS), name))
    assert CHANGED in done["Reason"]
    assert "aws cloudformation continue-update-rollback" in done["Reason"], "an Update may be a rollback"
    assert "UpdateCluster" not in world.sagemaker.changes()


def test_a_request_that_starts_no_node_reads_no_script(world: World) -> None:
    name = created(world)
    upload(world, b"evil\n")
    world.s3.reads.clear()
    old = properties(Scripts=SCRIPTS)
    assert world.finish(world.event("Update", {**old, "Trigger": "2"}, old, name))["Status"] == "SUCCESS"
    assert world.finish(world.event("Delete", old, physical_id=name))["Status"] == "SUCCESS"
    assert world.s3.reads == []


def test_properties_of_an_older_release_have_no_hash_to_compare(world: World) -> None:
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert world.s3.reads == []


def test_the_pointer_does_not_move_to_changed_scripts() -> None:
    world = RolloutWorld()
    world.has_scripts = True
    world.account.add("controller", 1, "a")
    upload(world, b"evil\n")
    done = world.finish(world.rollout("Update", "b", "a", **SCRIPTS, OnFailure="warn"))
    assert CHANGED in done["Reason"]
    assert world.account.value is None


def test_a_rollback_of_running_nodes_reads_no_script() -> None:
    """It may not fail; nodes compare the hash themselves, and have the last two bundles."""
    world = RolloutWorld()
    world.has_scripts = True
    upload(world, b"evil\n")
    update = world.rollout("Update", "b", "a")
    assert CHANGED in world.finish({**update, "ResourceProperties": {**update["ResourceProperties"], **SCRIPTS}})["Reason"]
    world.s3.reads.clear()
    undo = world.rollout("Update", "a", "b")
    done = world.finish({**undo, "OldResourceProperties": {**undo["OldResourceProperties"], **SCRIPTS}})
    assert done["Status"] == "SUCCESS"
    assert world.s3.reads == []
