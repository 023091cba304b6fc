"""A deployment whose nodes cannot start ends in minutes, with the node's own words; one that can is left alone."""

import pytest

from hyperpod_node.retry import OUTSIDE
from tests.unit.cluster_resource.fake_sagemaker import Refusal
from tests.unit.cluster_resource.modes import API, in_mode
from tests.unit.cluster_resource.test_continuous import continuous, wait_event
from tests.unit.cluster_resource.updates import CONTROLLER, Json, update
from tests.unit.cluster_resource.world import World, group, properties, request

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
TEN_MINUTES = 600


def fails(world: World, number: int, lines: tuple[str, ...], name: str = "workers") -> None:
    """Let the start of a node of a group fail now."""
    world.sagemaker.find(world.sagemaker.all[-1].name)
    instance = world.sagemaker.all[-1].fail_node(name, number, f"Lifecycle scripts did not run successfully: {lines[-1]}")
    world.logs.write(f"LifecycleConfig/{name}/{instance}", *lines)


def creating(world: World, wanted: Json, capacity: int = 0) -> Json:
    """A creation whose cluster is InService, without its workers."""
    world.sagemaker.capacity = capacity
    raw = world.deliver(world.event("Create", wanted))
    world.run(700)
    return raw


def ended(world: World, raw: Json, seconds: float) -> str | None:
    """Let time pass, and return the Reason if the request has failed."""
    world.run(seconds)
    if raw["RequestId"] not in world.responses:
        return None
    assert world.response(raw)["Status"] == "FAILED"
    return str(world.response(raw)["Reason"])


pytestmark = pytest.mark.only_mode("api", reason="HyperPod itself ends the change of another cluster")


def test_two_nodes_with_the_same_failing_step_end_the_creation_at_once(world: World) -> None:
    raw = creating(world, continuous(4))
    fails(world, 0, SCRIPT)
    assert ended(world, raw, 60) is None, "the second node may succeed"
    fails(world, 1, SCRIPT)
    reason = ended(world, raw, 60)
    assert reason
    assert "of workers: lifecycle script failed: step 'your scripts before Slurm': extra/before_slurm/20-tools.sh" in reason
    assert "fix the script" in reason
    assert "wait_hours" not in reason


def test_one_node_ends_the_creation_within_ten_minutes_if_its_own_script_fails(world: World) -> None:
    raw = creating(world, continuous(4))
    fails(world, 0, SCRIPT)
    assert ended(world, raw, TEN_MINUTES / 2) is None
    assert ended(world, raw, TEN_MINUTES / 2)


def test_a_group_of_one_node_needs_no_second_failure(world: World) -> None:
    raw = creating(world, continuous(1))
    fails(world, 0, SCRIPT)
    assert ended(world, raw, 60)


@pytest.mark.parametrize("lines", [MOUNT, DOWNLOAD])
def test_a_node_that_waited_for_something_outside_it_may_succeed_at_the_next_attempt(
    world: World, lines: tuple[str, ...]
) -> None:
    raw = creating(world, continuous(1))
    fails(world, 0, lines)
    assert ended(world, raw, 1500) is None
    world.sagemaker.offer(None)
    world.run(600)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_two_nodes_that_miss_the_same_mount_end_the_creation(world: World) -> None:
    raw = creating(world, continuous(2))
    fails(world, 0, MOUNT)
    fails(world, 1, MOUNT)
    assert "step 'mount FSx at /fsx'" in (ended(world, raw, 60) or "")


def test_a_script_that_fails_in_an_added_node_ends_the_update_and_the_reason_is_written_once(world: World) -> None:
    name = world.create(continuous(2))["PhysicalResourceId"]
    world.sagemaker.update_s = 99_999
    raw = world.deliver(world.event("Update", continuous(3), continuous(2), name))
    world.run(120)
    fails(world, 2, (*SCRIPT, f"[SageMaker] on_create.sh ended with status 1: {SCRIPT[-1]}"))
    reason = ended(world, raw, TEN_MINUTES) or ""
    assert reason.count("nosuchpackage") == 1, reason
    assert "if this was a rollback" not in reason
    assert "./hpod" in reason or "aws logs tail" in reason


def test_a_node_from_before_the_request_fails_no_later_deployment(world: World) -> None:
    name = world.create(continuous(2))["PhysicalResourceId"]
    world.sagemaker.capacity = 2
    assert update(world, name, continuous(3), continuous(2))["Status"] == "FAILED"
    world.sagemaker.all[0].launched["workers", 2] = world.clock.now
    world.run(60)
    raw = world.deliver(world.event("Update", continuous(4), continuous(3), name))
    world.run(120)
    fails(world, 2, SCRIPT)
    assert ended(world, raw, 1500) is None, "the old node runs the old script"


def test_a_setting_is_not_failed_by_a_node_that_it_does_not_wait_for(world: World) -> None:
    name = world.create(continuous(2))["PhysicalResourceId"]
    world.sagemaker.capacity = 2
    world.sagemaker.all[0].running["workers"] = 1
    wanted = properties(in_mode(request(CONTROLLER, group("workers", 2, "ml.trn1.32xlarge"), NodeRecovery="None"), API))
    raw = world.deliver(world.event("Update", wanted, continuous(2), name))
    fails(world, 1, SCRIPT)
    world.run(600)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_a_later_hour_ends_as_early(world: World) -> None:
    world.sagemaker.capacity = 0
    name = world.finish(world.event("Create", continuous(4, WaitHours=2)))["PhysicalResourceId"]
    raw = world.deliver(wait_event(world, name))
    fails(world, 0, SCRIPT)
    fails(world, 1, SCRIPT)
    assert "20-tools.sh" in (ended(world, raw, 90) or "")


def test_events_that_cannot_be_read_end_nothing(world: World) -> None:
    raw = creating(world, continuous(4))
    world.sagemaker.order("ListClusterEvents", Refusal("ThrottlingException"), times=30)
    fails(world, 0, SCRIPT)
    fails(world, 1, SCRIPT)
    assert ended(world, raw, 60) is None
    world.sagemaker.forgive()
    assert ended(world, raw, 60)


RAISE = "raise `wait_hours`"
FIXES = {
    "Lifecycle scripts did not run successfully": "fix the script",
    "We currently do not have sufficient ml.trn1.32xlarge capacity": "no capacity for ml.trn1.32xlarge",
    "ResourceLimitExceeded: The account-level service limit is 0 Instances": "request an increase in Service Quotas",
    "The instance failed its deep health checks": "deploy again: HyperPod replaces",
    "": RAISE,
}


@pytest.mark.parametrize("message", FIXES)
def test_after_the_deadline_the_fix_follows_from_the_kind_of_failure(world: World, message: str) -> None:
    raw = creating(world, continuous(4))
    if message:
        world.sagemaker.all[0].record("Instance did not start", {"EventMetadata": {"Instance": {"FailureMessage": message}}})
    reason = ended(world, raw, 3600) or ""
    assert "after 57 minutes" in reason
    assert {fix for fix in FIXES.values() if fix in reason} == {FIXES[message]}
