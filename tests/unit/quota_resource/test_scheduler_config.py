"""The scheduler config is created before the quotas and deleted after them."""

import pytest

from tests.unit.quota_resource.fake_quotas import FakeQuota
from tests.unit.quota_resource.quota_world import OURS, QuotaWorld, quota, scheduler, settings

ONE = [quota("vision")]
BEFORE = {"SchedulerConfig": scheduler()}


def test_it_is_created_before_the_quotas_and_deleted_after_them(world: QuotaWorld) -> None:
    assert world.do("Create", ONE, SchedulerConfig=scheduler())["Status"] == "SUCCESS"
    created = world.quotas.scheduler()
    assert created
    assert OURS.items() <= created.tags.items()
    assert world.do("Delete", ONE, SchedulerConfig=scheduler())["Status"] == "SUCCESS"
    assert world.quotas.all == {}
    assert world.quotas.writes() == [
        "CreateClusterSchedulerConfig",
        "CreateComputeQuota",
        "DeleteComputeQuota",
        "DeleteClusterSchedulerConfig",
    ]


def test_it_is_updated_only_if_it_differs(world: QuotaWorld) -> None:
    world.do("Create", ONE, SchedulerConfig=scheduler())
    before = len(world.quotas.writes())
    assert world.do("Update", ONE, ONE, SchedulerConfig=scheduler())["Status"] == "SUCCESS"
    assert len(world.quotas.writes()) == before
    assert world.do("Update", ONE, ONE, SchedulerConfig=scheduler(20), before=BEFORE)["Status"] == "SUCCESS"
    assert world.quotas.writes()[before:] == ["UpdateClusterSchedulerConfig"]
    changed = world.quotas.scheduler()
    assert changed
    assert changed.settings["SchedulerConfig"]["PriorityClasses"] == [{"Name": "training", "Weight": 20}]


def test_it_is_deleted_when_the_template_has_none(world: QuotaWorld) -> None:
    world.do("Create", ONE, SchedulerConfig=scheduler())
    assert world.do("Update", ONE, ONE, before=BEFORE)["Status"] == "SUCCESS"
    assert world.quotas.scheduler() is None
    assert world.ours() == settings(ONE)


@pytest.mark.parametrize("name", ["reference", "theirs"])
def test_one_of_another_owner_is_named_and_kept(world: QuotaWorld, name: str) -> None:
    theirs = FakeQuota(
        "other0000001", world.request("Create", [])["ResourceProperties"]["ClusterArn"], name, {}, {}, "Created",
        resource="ClusterSchedulerConfig",
    )  # fmt: skip
    world.quotas.all[theirs.id] = theirs
    done = world.do("Create", ONE, SchedulerConfig=scheduler())
    assert done["Reason"] == (
        f"scheduler config: scheduler config {name} (other0000001) of the cluster belongs to another owner; "
        "delete it, or remove yours from the cluster file"
    )
    assert world.quotas.writes() == []
    assert world.do("Create", ONE)["Status"] == "SUCCESS"


def test_its_failure_is_reported(world: QuotaWorld) -> None:
    world.quotas.fails[("", "Creat")] = "the add-on is not installed"
    done = world.do("Create", ONE, SchedulerConfig=scheduler())
    assert done["Status"] == "FAILED"
    assert "was not created: the add-on is not installed; correct it in the cluster file" in done["Reason"]
    assert world.ours() == {}
