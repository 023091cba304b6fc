"""A crash before or after any call of a step: repeated, the request converges to exactly the desired quotas."""

import json
from typing import Any

import pytest

from tests.unit.cluster_resource.calls_world import MOMENTS, Prepare, crash_at_each_call, die_from_each_call
from tests.unit.quota_resource.quota_world import QuotaWorld, quota, scheduler, settings

Json = dict[str, Any]
OLD = [quota("vision"), quota("speech"), quota("robots")]
NEW = [quota("vision", 4), quota("speech"), quota("agents")]
FIRST, SECOND = scheduler(80), scheduler(20)

OPPOSITES: dict[str, Json] = {
    "Create": {"kind": "Delete", "items": OLD},
    "Update": {"kind": "Update", "items": OLD, "old": NEW, "SchedulerConfig": FIRST, "before": {"SchedulerConfig": SECOND}},
    "Delete": {"kind": "Delete", "items": OLD},
}
"""What CloudFormation sends after a failed request."""


def create() -> tuple[QuotaWorld, Json]:
    return QuotaWorld(), {"kind": "Create", "items": OLD, "SchedulerConfig": FIRST}


def update() -> tuple[QuotaWorld, Json]:
    world = QuotaWorld()
    world.do("Create", OLD, SchedulerConfig=FIRST)
    return world, {"kind": "Update", "items": NEW, "old": OLD, "SchedulerConfig": SECOND, "before": {"SchedulerConfig": FIRST}}


def delete() -> tuple[QuotaWorld, Json]:
    world = QuotaWorld()
    world.do("Create", OLD, SchedulerConfig=FIRST)
    return world, {"kind": "Delete", "items": OLD}


def check(world: QuotaWorld, request: Json) -> None:
    assert world.ours() == ({} if request["kind"] == "Delete" else settings(request["items"]))
    found = world.quotas.scheduler()
    if request["kind"] == "Delete":
        assert world.quotas.all == {}
    else:
        assert found
        assert {**found.settings, "Name": found.name} == json.loads(request["SchedulerConfig"])
        assert len(world.quotas.all) == len(world.ours()) + 1
    assert all(each.status in ("Created", "Updated") for each in world.quotas.all.values())


@pytest.mark.fault(94)
@pytest.mark.parametrize("prepare", [create, update, delete])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_crash_at_any_call_converges(prepare: Prepare[QuotaWorld], moment: str) -> None:
    crash_at_each_call(prepare, moment, check)


@pytest.mark.parametrize("prepare", [create, update, delete])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_request_that_ends_at_any_call_is_cleaned_up_by_the_next(prepare: Prepare[QuotaWorld], moment: str) -> None:
    die_from_each_call(prepare, moment, check, OPPOSITES, every=2)
