"""A member that the file removes is unset, or the request fails: HyperPod may keep what an update leaves out."""

from typing import Any

import botocore.session
import pytest

from cluster_resource.removed_members import OFF, OTHER_RULES, PERMANENT
from tests.unit.cluster_resource.removals import CLUSTER, GROUP, REFUSED
from tests.unit.cluster_resource.updates import CONTROLLER, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request

MODEL = botocore.session.get_session().get_service_model("sagemaker")
ALWAYS = {"ClusterName", "InstanceGroups", "RestrictedInstanceGroups", "InstanceGroupsToDelete"}


def file(**more: Any) -> Json:
    """A file whose workers or cluster have more members."""
    return properties(request(CONTROLLER, workers(4, **more if more.keys() <= GROUP.keys() else {}), **_of_cluster(more)))


def _of_cluster(more: Json) -> Json:
    return {name: value for name, value in more.items() if name in CLUSTER}


def test_each_optional_member_of_the_service_model_has_a_row() -> None:
    update_shape = MODEL.operation_model("UpdateCluster").input_shape
    groups = [update_shape.members[kind].member for kind in ("InstanceGroups", "RestrictedInstanceGroups")]
    optional = {name for shape in (*groups, update_shape) for name in set(shape.members) - set(shape.required_members)} - ALWAYS
    rows = {path.partition(".")[0] for path in (*OFF, *PERMANENT, *OTHER_RULES)}
    assert optional - rows == set()
    assert rows - optional == set()


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("member", sorted((GROUP.keys() | CLUSTER.keys()) - REFUSED))
def test_a_removed_member_is_unset(world: World, member: str, keeps: bool) -> None:
    old = file(**{member: (GROUP | CLUSTER)[member]})
    name = world.create(old)["PhysicalResourceId"]
    world.sagemaker.all[0].keeps_members = keeps
    assert update(world, name, file(), old)["Status"] == "SUCCESS"
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert (sent | sent["InstanceGroups"][1])[member] in ([], "None", {"Labels": {}, "Taints": []}, {"Mode": "Disable"})


@pytest.mark.parametrize("member", sorted(REFUSED))
def test_a_member_without_an_off_value_cannot_be_removed(world: World, member: str) -> None:
    old = file(**{member: GROUP[member]})
    name = world.create(old)["PhysicalResourceId"]
    done = update(world, name, file(), old)
    assert (done["Status"], world.sagemaker.changes()) == ("FAILED", [])
    assert done["Reason"].startswith(f"{member} of instance group 'workers' cannot be removed: HyperPod keeps ")
    assert "; set it to " in done["Reason"]


def test_the_rollback_of_an_added_member_succeeds(world: World) -> None:
    least = file(MinInstanceCount=2)
    name = world.create(file())["PhysicalResourceId"]
    assert update(world, name, least, file())["Status"] == "SUCCESS"
    world.stack_status = "UPDATE_ROLLBACK_IN_PROGRESS"
    done = update(world, name, file(), least)
    assert (done["Status"], done["Reason"]) == (
        "SUCCESS",
        "HyperPod keeps workers.MinInstanceCount from the update that was rolled back",
    )


def test_a_rollback_leaves_the_recovery_of_nodes_because_the_default_is_unknown(world: World) -> None:
    name = world.create(file())["PhysicalResourceId"]
    update(world, name, file(NodeRecovery="Automatic"), file())
    world.stack_status = "UPDATE_ROLLBACK_IN_PROGRESS"
    assert update(world, name, file(), file(NodeRecovery="Automatic"))["Status"] == "SUCCESS"
    assert world.sagemaker.all[0].settings["NodeRecovery"] == "Automatic"


def test_one_label_of_two_is_removed(world: World) -> None:
    old = file(KubernetesConfig={"Labels": {"team": "a", "tier": "b"}})
    name = world.create(old)["PhysicalResourceId"]
    assert update(world, name, file(KubernetesConfig={"Labels": {"team": "a"}}), old)["Status"] == "SUCCESS"
    assert world.sagemaker.all[0].groups["workers"]["KubernetesConfig"] == {"Labels": {"team": "a"}}


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (
            {"KubernetesConfig": {"Labels": {"a": "1", "b": "2"}}},
            {"KubernetesConfig": {"Labels": {"a": "1"}}},
            "KubernetesConfig.Labels.b",
        ),
        ({"KubernetesConfig": {"Labels": {"a": "1"}}}, {}, "KubernetesConfig.Labels.a"),
        ({"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]}, {}, "InstanceStorageConfigs"),
        (
            {
                "ScheduledUpdateConfig": {
                    "ScheduleExpression": "cron(0 0 * * ? *)",
                    "DeploymentConfig": {"WaitIntervalInSeconds": 9},
                }
            },
            {"ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 0 * * ? *)"}},
            "ScheduledUpdateConfig.DeploymentConfig.WaitIntervalInSeconds",
        ),
    ],
)
def test_an_accepted_update_fails_if_hyperpod_keeps_a_removed_member(world: World, old: Json, new: Json, kept: str) -> None:
    name = world.create(file(**old))["PhysicalResourceId"]
    cluster = world.sagemaker.all[0]
    before = dict(cluster.groups["workers"])
    accepted = cluster.update

    def keeping(request: Json) -> Any:
        undo = accepted(request)
        cluster.groups["workers"] = before
        return undo

    cluster.update = keeping  # type: ignore[method-assign]
    done = update(world, name, file(**new), file(**old))
    assert done["Status"] == "FAILED"
    assert f"HyperPod keeps workers.{kept} of cluster {name}, which the file removed" in done["Reason"]
    assert update(world, name, file(**old), file(**new))["Status"] == "SUCCESS"


def test_a_member_that_only_the_service_has_is_not_a_difference(world: World) -> None:
    name = world.create(file())["PhysicalResourceId"]
    world.sagemaker.all[0].groups["workers"] |= {"MinInstanceCount": 0, "OnStartDeepHealthChecks": ["InstanceStress"]}
    assert update(world, name, file(), file())["Status"] == "SUCCESS"
    assert not world.sagemaker.changes()
