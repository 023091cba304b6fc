"""Every step logs one line with the cluster's progress and what the step waits for."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.cluster_resource.fake_sagemaker import Refusal
from tests.unit.cluster_resource.world import World, group, properties, request

Json = dict[str, Any]
Lines = Callable[[], list[Json]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """The steps' lines so far."""
    return lambda: [line for line in map(json.loads, capsys.readouterr().out.splitlines()) if line["message"] == "step"]


def test_a_line_shows_status_nodes_and_time(world: World, lines: Lines) -> None:
    world.deliver(world.event("Create", properties()))
    world.run(301)
    last = lines()[-1]
    assert (last["status"], last["elapsed_s"], last["next"]) == ("Creating", 300, "Wait")
    assert last["nodes"] == "controller 0 of 1 (1 Pending), workers 0 of 4 (4 Pending)"


@pytest.mark.fault(12)
def test_deep_health_checks_are_shown(world: World, lines: Lines) -> None:
    world.deliver(world.event("Create", properties()))
    world.run(31)
    world.sagemaker.all[0].waiting_status = "DeepHealthCheckInProgress"
    world.run(301)
    assert lines()[-1]["nodes"].endswith("workers 0 of 4 (4 DeepHealthCheckInProgress)")


@pytest.mark.fault(12)
def test_an_update_that_waits_for_deep_health_checks_shows_it(world: World, lines: Lines) -> None:
    name = world.create()["PhysicalResourceId"]
    refusal = Refusal("ValidationException", "Cannot update the cluster while a deep health check is in progress")
    world.sagemaker.order("UpdateCluster", refusal, times=3)
    six = properties(request(group("controller", 1), group("workers", 6, "ml.trn1.32xlarge")))
    lines()
    world.finish(world.event("Update", six, properties(), name))
    assert sum("deep health check is in progress" in line["note"] for line in lines()) == 3


@pytest.mark.fault(15)
@pytest.mark.only_mode("api", reason="only a continuous cluster is InService before its nodes")
def test_continuous_provisioning_shows_which_nodes_do_not_run_yet(world: World, lines: Lines) -> None:
    wanted = request(NodeProvisioningMode="Continuous")
    world.deliver(world.event("Create", properties(wanted)))
    world.run(31)
    cluster = world.sagemaker.all[0]
    cluster.become("InService")
    cluster.running = {"controller": 1, "workers": 3}
    world.run(61)
    last = lines()[-1]
    assert (last["status"], last["next"]) == ("InService", "Wait")
    assert last["nodes"] == "controller 1 of 1, workers 3 of 4 (1 Pending)"


def test_a_deletion_shows_the_remaining_nodes(world: World, lines: Lines) -> None:
    name = world.create()["PhysicalResourceId"]
    world.deliver(world.event("Delete", properties(), physical_id=name))
    world.run(91)
    last = lines()[-1]
    assert (last["status"], last["next"]) == ("Deleting", "Wait")
    assert last["nodes"].startswith("controller 1 of 1")


def test_an_update_continues_if_nodes_cannot_be_listed(world: World, lines: Lines) -> None:
    world.sagemaker.order("ListClusterNodes", Refusal("ValidationException", "not now"), times=5)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert lines()[3]["nodes"] == "controller 0 of 1, workers 0 of 4"


@pytest.mark.fault(22)
def test_an_unknown_status_is_shown_while_it_lasts(world: World, lines: Lines) -> None:
    raw = world.deliver(world.event("Create", properties()))
    world.run(31)
    world.sagemaker.all[0].become("Contemplating")
    world.run(100)
    assert raw["RequestId"] not in world.responses
    assert lines()[-1]["status"] == "Contemplating"
