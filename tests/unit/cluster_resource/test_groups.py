"""Groups and counts of an update: sent, kept, or refused."""

import pytest

from tests.unit.cluster_resource.updates import CONTROLLER, FOUR, SIX, Json, counts, update, workers
from tests.unit.cluster_resource.world import World, group, properties, request


def test_a_changed_count_is_sent_with_every_other_group_and_keeps_the_id(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    done = update(world, name, SIX, FOUR)
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == name
    assert done["Data"].keys() == {"ClusterArn", "ClusterName", "ClusterId", "MissingNodes"}
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert counts(sent) == {"controller": 1, "workers": 6}
    assert "InstanceGroupsToDelete" not in sent
    assert world.sagemaker.changes() == ["UpdateCluster"]


@pytest.mark.fault(52)
def test_a_new_group_is_added_and_a_removed_one_deleted_by_name(world: World) -> None:
    old = properties(request(CONTROLLER, workers(4), group("login", 1)))
    name = world.create(old)["PhysicalResourceId"]
    new = properties(request(CONTROLLER, workers(4), group("spare", 2)))
    assert update(world, name, new, old)["Status"] == "SUCCESS"
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert counts(sent) == {"controller": 1, "workers": 4, "spare": 2}
    assert sent["InstanceGroupsToDelete"] == ["login"]


@pytest.mark.fault(52)
def test_the_last_group_is_not_removed(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    done = update(world, name, properties({"VpcConfig": request()["VpcConfig"], "InstanceGroups": []}), FOUR)
    assert "at least one instance group" in done["Reason"]
    assert not world.sagemaker.changes()


def test_an_immutable_field_that_the_file_omits_is_sent_as_observed(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    four, six = workers(4), workers(6)
    del four["ThreadsPerCore"], six["ThreadsPerCore"]
    deployed = properties(request(CONTROLLER, four))
    assert update(world, name, properties(request(CONTROLLER, six)), deployed)["Status"] == "SUCCESS"
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert sent["InstanceGroups"][1]["ThreadsPerCore"] == 1


def test_an_update_waits_for_a_group_that_is_being_deleted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old = properties(request(CONTROLLER, workers(4), group("login", 1)))
    name = world.create(old)["PhysicalResourceId"]
    whole = world.sagemaker.describe_cluster
    end = world.clock.after(200)

    def going(**arguments: str) -> Json:
        described = whole(**arguments)
        if world.clock.now < end:
            described["InstanceGroups"][2]["Status"] = "Deleting"
        else:
            world.sagemaker.all[0].groups.pop("login", None)
        return described

    monkeypatch.setattr(world.sagemaker, "describe_cluster", going)
    assert update(world, name, FOUR, old)["Status"] == "SUCCESS"
    assert world.clock.now >= end


@pytest.mark.fault(50)
def test_a_count_that_an_operator_changed_stays_unless_the_file_changes_it(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].groups["workers"]["InstanceCount"] = 10
    world.sagemaker.all[0].in_service()
    new = properties(
        request(group("controller", 1, LifeCycleConfig={"SourceS3Uri": "s3://x/2/", "OnCreate": "a.sh"}), workers(4))
    )
    assert update(world, name, new, FOUR)["Status"] == "SUCCESS"
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert counts(sent) == {"controller": 1, "workers": 10}
    assert update(world, name, properties(request(CONTROLLER, workers(5))), new)["Status"] == "SUCCESS"
    assert counts(world.sagemaker.made("UpdateCluster")[-1])["workers"] == 5


@pytest.mark.fault(51)
def test_a_group_created_by_hand_is_sent_unchanged_and_reported(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].groups["by-hand"] = {**group("by-hand", 3), "kind": "InstanceGroups"}
    world.sagemaker.all[0].in_service()
    done = update(world, name, SIX, FOUR)
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert counts(sent)["by-hand"] == 3
    assert "InstanceGroupsToDelete" not in sent
    assert "in neither this file nor the previous one: by-hand" in done["Reason"]


@pytest.mark.fault(53)
@pytest.mark.parametrize(
    "changed",
    [
        group("workers", 4, "ml.trn1n.32xlarge"),
        workers(4, ThreadsPerCore=2),
        workers(4, ExecutionRole="arn:aws:iam::123456789012:role/Other"),
        workers(4, OverrideVpcConfig={"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0bbbbbbbbbbbbbbb0"]}),
    ],
)
def test_a_change_to_an_immutable_field_is_refused_with_a_fix(world: World, changed: Json) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    done = update(world, name, properties(request(CONTROLLER, changed)), FOUR)
    assert "rename the group" in done["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.fault(53)
def test_a_change_to_an_immutable_field_of_the_controller_is_refused_without_advice_to_rename(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    wanted = properties(request(group("controller", 1, "ml.m5.xlarge"), workers(4)), ControllerGroup="controller")
    done = update(world, name, wanted, FOUR)
    assert "cannot be renamed" in done["Reason"]


@pytest.mark.fault(58)
@pytest.mark.parametrize("groups", [[workers(4)], [group("controller", 0), workers(4)]])
def test_an_update_that_removes_the_controller_or_its_only_node_is_refused_before_any_call(
    world: World, groups: list[Json]
) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    done = update(world, name, properties(request(*groups), ControllerGroup="controller"), FOUR)
    assert done["Status"] == "FAILED"
    assert "controller group 'controller' must have at least one node" in done["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.parametrize("had", ["api", "scripts"])
def test_a_change_of_what_configures_slurm_is_refused_before_any_call(world: World, had: str) -> None:
    api = {
        "SlurmConfig": {"NodeType": "Compute"},
        "LifeCycleConfig": {"SourceS3Uri": "s3://a/b", "OnInitComplete": "on_create.sh"},
    }
    scripts = {"LifeCycleConfig": {"SourceS3Uri": "s3://a/b", "OnCreate": "on_create.sh"}}
    first, second = (api, scripts) if had == "api" else (scripts, api)
    old, new = (properties(request(CONTROLLER, {**workers(4), **more})) for more in (first, second))
    name = world.create(old)["PhysicalResourceId"]
    done = update(world, name, new, old)
    assert f"set `slurm: {{setup: {had}}}`" in done["Reason"]
    assert ("docs/operate/slurm-setup.md" in done["Reason"]) is (had == "scripts")
    assert not world.sagemaker.changes()


@pytest.mark.fault(58)
def test_a_renamed_controller_is_refused_before_any_call(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    wanted = properties(request(group("head", 1), workers(4)), ControllerGroup="head")
    done = update(world, name, wanted, FOUR)
    assert "the controller group cannot be renamed" in done["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.fault(42)
def test_wrong_old_properties_do_not_hide_a_difference(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    with_login = properties(request(CONTROLLER, workers(4), group("login", 1)))
    assert update(world, name, with_login, with_login)["Status"] == "SUCCESS"
    cluster = world.sagemaker.find(name)
    assert cluster
    assert "login" in cluster.groups
