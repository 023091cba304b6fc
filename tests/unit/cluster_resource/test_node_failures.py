"""A deployment whose nodes cannot start ends in minutes, with the node's own words; one that can is left alone."""

import pytest

from hyperpod_node.retry import OUTSIDE
from tests.unit.cluster_resource.fake_sagemaker import Refusal
from tests.unit.cluster_resource.modes import API, in_mode
from tests.unit.cluster_resource.test_continuous import continuous, wait_event
from tests.unit.cluster_resource.updates import CONTROLLER, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request

pytestmark = pytest.mark.only_mode("api", reason="HyperPod itself ends the change of another cluster")
TOOLS = "extra/before_slurm/20-tools.sh: `bash 20-tools.sh` ended with status 100: E: Unable to locate package nosuchpackage"
SCRIPT = ("E: Unable to locate package nosuchpackage", f"lifecycle script failed: step 'your scripts before Slurm': {TOOLS}")
MOUNT = (
    OUTSIDE,
    "lifecycle script failed: step 'mount FSx at /fsx': fs-1 at /fsx: gave up after 20 attempts in 300 s: timed out",
)
DOWNLOAD = (
    "[SageMaker] Downloading lifecycle scripts",
    "[SageMaker] could not download s3://b/lifecycle/on_create.sh: AccessDenied",
)


def fails(world: World, number: int, lines: tuple[str, ...] = SCRIPT) -> None:
    """Let the start of a worker fail now."""
    world.sagemaker.find(world.sagemaker.all[-1].name)
    instance = world.sagemaker.all[-1].fail_node("workers", number, f"Lifecycle scripts did not run successfully: {lines[-1]}")
    world.logs.write(f"LifecycleConfig/workers/{instance}", *lines)


def creating(world: World, count: int) -> Json:
    """A creation whose cluster is InService, without its workers."""
    world.sagemaker.capacity = 0
    raw = world.deliver(world.event("Create", continuous(count)))
    world.run(700)
    return raw


def ended(world: World, raw: Json, minutes: float) -> str:
    """Let time pass, and return the Reason if the request has failed."""
    world.run(minutes * 60)
    if raw["RequestId"] not in world.responses:
        return ""
    assert world.response(raw)["Status"] == "FAILED"
    return str(world.response(raw)["Reason"])


@pytest.mark.parametrize("lines", [SCRIPT, MOUNT])
def test_two_nodes_with_the_same_failing_step_end_the_creation_at_once(world: World, lines: tuple[str, ...]) -> None:
    raw = creating(world, 4)
    fails(world, 0, lines)
    assert not ended(world, raw, 1), "the second node may succeed"
    world.sagemaker.order("ListClusterEvents", Refusal("ThrottlingException"), times=2)
    fails(world, 1, lines)
    assert not ended(world, raw, 1), "no event could be read"
    reason = ended(world, raw, 1)
    assert f"of workers: {lines[-1]}" in reason
    assert "fix the script" in reason
    assert "wait_hours" not in reason


def test_one_node_ends_the_creation_within_ten_minutes_if_its_own_script_fails(world: World) -> None:
    raw = creating(world, 4)
    fails(world, 0)
    assert not ended(world, raw, 5)
    assert ended(world, raw, 5)


@pytest.mark.parametrize("lines", [MOUNT, DOWNLOAD])
def test_what_may_succeed_at_the_next_attempt_is_waited_for(world: World, lines: tuple[str, ...]) -> None:
    raw = creating(world, 1)
    fails(world, 0, lines)
    assert not ended(world, raw, 25)
    world.sagemaker.offer(None)
    world.run(600)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_an_added_node_whose_script_fails_ends_the_update_and_the_reason_is_written_once(world: World) -> None:
    name = world.create(continuous(2))["PhysicalResourceId"]
    world.sagemaker.update_s = 99_999
    raw = world.deliver(world.event("Update", continuous(3), continuous(2), name))
    world.run(120)
    fails(world, 2, (*SCRIPT, f"[SageMaker] on_create.sh ended with status 1: {SCRIPT[-1]}"))
    reason = ended(world, raw, 10)
    assert reason.count("nosuchpackage") == 1, reason
    assert "if this was a rollback" not in reason
    assert "aws logs tail" in reason


def test_a_node_from_before_the_request_fails_no_later_deployment(world: World) -> None:
    name = world.create(continuous(2))["PhysicalResourceId"]
    world.sagemaker.capacity = 2
    assert update(world, name, continuous(3), continuous(2))["Status"] == "FAILED"
    world.sagemaker.all[0].launched["workers", 2] = world.clock.now
    world.run(60)
    raw = world.deliver(world.event("Update", continuous(4), continuous(3), name))
    world.run(120)
    fails(world, 2)
    assert not ended(world, raw, 25), "the old node runs the old script"


def test_an_update_is_not_failed_by_a_node_that_it_does_not_wait_for(world: World) -> None:
    name = world.create(continuous(2))["PhysicalResourceId"]
    world.sagemaker.capacity = world.sagemaker.all[0].running["workers"] = 1
    wanted = properties(in_mode(request(CONTROLLER, workers(2), NodeRecovery="None"), API))
    raw = world.deliver(world.event("Update", wanted, continuous(2), name))
    fails(world, 1)
    world.run(600)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_a_group_of_one_node_needs_no_second_failure_also_in_a_later_hour(world: World) -> None:
    world.sagemaker.capacity = 0
    name = world.finish(world.event("Create", continuous(1, WaitHours=2)))["PhysicalResourceId"]
    raw = world.deliver(wait_event(world, name))
    fails(world, 0)
    assert "20-tools.sh" in ended(world, raw, 1.5)


def test_a_later_hour_ends_for_failed_scripts_though_the_cluster_kept_a_minimum_that_is_met(world: World) -> None:
    world.sagemaker.capacity = 2
    name = world.finish(world.event("Create", continuous(4, WaitHours=2)))["PhysicalResourceId"]
    world.sagemaker.all[0].groups["workers"]["MinInstanceCount"] = 2
    raw = wait_event(world, name)
    raw["ResourceProperties"]["MinInstanceCounts"] = {"controller": "0", "workers": "0"}
    world.deliver(raw)
    fails(world, 2)
    fails(world, 3)
    assert "20-tools.sh" in ended(world, raw, 1.5)


FIXES = {
    "Lifecycle scripts did not run successfully": "fix the script",
    "We currently do not have sufficient ml.trn1.32xlarge capacity": "no capacity for ml.trn1.32xlarge",
    "ResourceLimitExceeded: The account-level service limit is 0 Instances": "request an increase in Service Quotas",
    "The instance failed its deep health checks": "HyperPod replaces nodes that fail health checks",
    "": "raise `wait_hours`",
}


@pytest.mark.parametrize("message", FIXES)
def test_after_the_deadline_the_fix_follows_from_the_kind_of_failure(world: World, message: str) -> None:
    raw = creating(world, 4)
    if message:
        world.sagemaker.all[0].record("Instance did not start", {"EventMetadata": {"Instance": {"FailureMessage": message}}})
    reason = ended(world, raw, 60)
    assert "after 57 minutes" in reason
    assert {fix for fix in FIXES.values() if fix in reason} == {FIXES[message]}
