"""The rollout of scripts to running nodes."""

import itertools
import json
from base64 import b64decode
from typing import Any

import pytest

from cluster_resource import rollout_api
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.observed import Node
from cluster_resource.pointer import Bundle, Pointer, Reach, share
from cluster_resource.reports import fleet_of
from cluster_resource.rollout import CONTINUE, NEW_NODES, UNCHANGED
from tests.unit.cluster_resource.fake_call import fake_call
from tests.unit.cluster_resource.rollout_world import PARAMETER, FakeNode, RolloutWorld, rollout_properties, sha256_of

BOTH = ("controller", "login")
FIRST_WAVE = (("i-00000000000000001",), 0)
"""The first controller."""
WORKERS = 20
LONGEST_INTERVAL_S = 75
"""Between two runs of an agent: 45 s and a random delay of up to 30 s."""


@pytest.fixture
def world() -> RolloutWorld:
    """A cluster whose nodes run bundle a."""
    world = RolloutWorld()
    world.account.add("controller", 1)
    world.account.add("login", 1)
    world.account.add("workers", WORKERS)
    assert world.finish(world.rollout("Create", "a"))["Data"] == {"Rollout": NEW_NODES}
    world.account.written.clear()
    world.account.texts_written.clear()
    return world


def first_percent(world: RolloutWorld) -> int:
    return max(10, 1 + min(share(node.instance) for node in world.account.nodes if node.group == "workers"))


def break_on(world: RolloutWorld, group: str, version: str) -> FakeNode:
    node = next(node for node in world.account.nodes if node.group == group)
    node.broken.add(version)
    return node


def test_a_creation_points_all_nodes_to_the_bundle_at_once() -> None:
    world = RolloutWorld()
    done = world.finish(world.rollout("Create", "a"))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == "Rollout"
    assert world.waves() == [(BOTH, 100)]
    assert json.loads(world.account.value or "")["sha256"] == sha256_of("a")
    assert (world.clock.now - world.states.executions.popitem()[1].started).total_seconds() <= 30


def written(*records: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a node that wrote the records, one per millisecond."""
    return [
        {"logStreamName": "workers/i-1", "timestamp": time, "ingestionTime": time, "message": json.dumps(record)}
        for time, record in enumerate(records)
    ]


def test_a_change_reaches_controllers_then_login_then_few_then_all_compute_nodes(world: RolloutWorld) -> None:
    done = world.update_to("b", "a")
    assert done["Status"] == "SUCCESS"
    assert done["Data"] == {"Rollout": f"applied on {WORKERS + 2} of {WORKERS + 2} nodes"}
    assert world.waves() == [FIRST_WAVE, (BOTH, 0), (BOTH, first_percent(world)), (BOTH, 100)]
    assert len(world.account.running("b")) == WORKERS + 2


def test_controllers_change_one_at_a_time(world: RolloutWorld) -> None:
    first, second = world.account.nodes[0], world.account.add("controller", 1)[0]
    assert world.update_to("b", "a")["Status"] == "SUCCESS"
    assert world.waves()[:3] == [FIRST_WAVE, ((first.instance, second.instance), 0), (BOTH, 0)]
    assert second.applied == sha256_of("b")


@pytest.mark.fault(81)
def test_a_bundle_that_breaks_controllers_reaches_only_one(world: RolloutWorld) -> None:
    first, second = world.account.nodes[0], world.account.add("controller", 1)[0]
    first.broken, second.broken = {"b"}, {"b"}
    assert world.update_to("b", "a")["Status"] == "FAILED"
    assert (first.applied, second.applied) == (None, sha256_of("a"))


@pytest.mark.fault(83)
def test_a_first_compute_node_that_leaves_is_replaced() -> None:
    world = RolloutWorld()
    world.account.add("workers", WORKERS)
    world.finish(world.rollout("Create", "a"))
    world.clock.advance(60)
    world.account.written.clear()
    world.deliver(world.rollout("Update", "b", "a"))
    world.run(35)
    [(_, percent)] = world.waves()
    world.account.nodes = [node for node in world.account.nodes if share(node.instance) >= percent]
    world.run(40)
    following = world.waves()[1][1]
    assert percent < following < 100
    world.run(600)
    assert world.waves()[-1] == (BOTH, 100)


def test_the_first_compute_wave_has_at_least_one_node() -> None:
    world = RolloutWorld()
    [node] = world.account.add("workers", 1)
    assert share(node.instance) >= 10
    world.finish(world.rollout("Create", "a"))
    world.update_to("b", "a")
    assert world.waves()[1] == (BOTH, share(node.instance) + 1)


@pytest.mark.fault(80)
def test_generations_rise_after_the_parameter_was_deleted(world: RolloutWorld) -> None:
    world.update_to("b", "a")
    highest = world.account.written[-1].generation
    assert world.finish(world.rollout("Delete", "b"))["Status"] == "SUCCESS"
    assert world.account.value is None
    world.clock.advance(60)
    world.finish(world.rollout("Create", "b"))
    assert world.account.written[-1].generation > highest


def test_deleting_an_absent_pointer_succeeds(world: RolloutWorld) -> None:
    world.account.value = None
    assert world.finish(world.rollout("Delete", "a"))["Status"] == "SUCCESS"


def test_an_update_without_a_changed_bundle_writes_nothing(world: RolloutWorld) -> None:
    assert world.update_to("a", "a", OnFailure="warn")["Data"] == {"Rollout": UNCHANGED}
    assert world.account.written == []


@pytest.mark.fault(80)
def test_a_pointer_that_was_changed_by_hand_is_restored(world: RolloutWorld) -> None:
    world.account.value = '{"version": 9}'
    assert world.update_to("a", "a")["Status"] == "SUCCESS"
    assert world.waves()[-1] == (BOTH, 100)
    assert world.account.written[-1].bundle.sha256 == sha256_of("a")


@pytest.mark.fault(76)
def test_a_failed_step_stops_the_rollout_after_its_wave(world: RolloutWorld) -> None:
    node = break_on(world, "login", "b")
    done = world.update_to("b", "a")
    assert done["Status"] == "FAILED"
    assert f"stopped at login: login-1 ({node.instance}): step 'groups and users': uid 7 is taken" in done["Reason"]
    assert world.waves() == [FIRST_WAVE, (BOTH, 0)]
    assert [node.group for node in world.account.running("b")] == ["controller"]


@pytest.mark.fault(77)
def test_the_rollback_repairs_all_nodes_at_once(world: RolloutWorld) -> None:
    break_on(world, "login", "b")
    world.update_to("b", "a")
    world.account.written.clear()
    done = world.update_to("a", "b")
    assert done["Data"] == {"Rollout": f"applied on {WORKERS + 2} of {WORKERS + 2} nodes"}
    assert world.waves() == [(BOTH, 100)]
    assert len(world.account.running("a")) == WORKERS + 2


@pytest.mark.fault(77)
def test_a_rollback_succeeds_even_if_a_node_cannot_return(world: RolloutWorld) -> None:
    node = break_on(world, "login", "b")
    world.update_to("b", "a")
    node.broken.add("a")
    done = world.update_to("a", "b")
    assert done["Status"] == "SUCCESS"
    assert done["Data"]["Rollout"].startswith(f"applied on {WORKERS + 1} of {WORKERS + 2} nodes; login-1")


def test_a_failed_bundle_that_is_deployed_again_goes_by_waves(world: RolloutWorld) -> None:
    node = break_on(world, "controller", "b")
    assert world.update_to("b", "a")["Status"] == "FAILED"
    world.update_to("a", "b")
    world.account.written.clear()
    assert world.update_to("b", "a")["Status"] == "FAILED"
    assert world.waves() == [FIRST_WAVE]
    node.broken.clear()
    world.update_to("a", "b")
    assert world.update_to("b", "a")["Status"] == "SUCCESS"
    assert len(world.account.running("b")) == WORKERS + 2


@pytest.mark.fault(76)
@pytest.mark.fault(84)
def test_the_rollback_of_a_way_back_is_a_rollback(world: RolloutWorld) -> None:
    world.update_to("b", "a")
    assert world.update_to("a", "b")["Status"] == "SUCCESS"  # by a user; then another resource fails
    break_on(world, "controller", "b")
    world.account.written.clear()
    assert world.update_to("b", "a")["Status"] == "SUCCESS"
    assert world.waves() == [(BOTH, 100)]


def test_a_bundle_that_stopped_with_a_warning_goes_by_waves_again(world: RolloutWorld) -> None:
    break_on(world, "login", "b")
    assert world.update_to("b", "a", OnFailure="warn")["Status"] == "SUCCESS"
    world.update_to("a", "b", OnFailure="warn")
    world.account.written.clear()
    world.update_to("b", "a", OnFailure="warn")
    assert world.waves() == [FIRST_WAVE, (BOTH, 0)]


def test_warn_reports_the_failure_and_the_next_deployment_repairs_it(world: RolloutWorld) -> None:
    node = break_on(world, "controller", "b")
    done = world.update_to("b", "a", OnFailure="warn")
    assert done["Status"] == "SUCCESS"
    assert done["Data"]["Rollout"].startswith(f"stopped at controllers: controller-1 ({node.instance}): step 'groups and users'")
    assert done["Data"]["Rollout"].endswith(CONTINUE)
    assert world.waves() == [FIRST_WAVE]
    assert world.update_to("c", "b", OnFailure="warn")["Data"]["Rollout"] == f"applied on {WORKERS + 2} of {WORKERS + 2} nodes"
    assert len(world.account.running("c")) == WORKERS + 2


def test_a_stopped_rollout_starts_again_with_any_change_of_its_properties(world: RolloutWorld) -> None:
    node = break_on(world, "controller", "b")
    world.update_to("b", "a", OnFailure="warn")
    node.broken.clear()
    done = world.update_to("b", "b", LoginGroups=[])
    assert done["Data"]["Rollout"] == f"applied on {WORKERS + 2} of {WORKERS + 2} nodes"


@pytest.mark.fault(78)
def test_a_node_that_reports_no_result_stops_the_rollout_after_ten_minutes(world: RolloutWorld) -> None:
    [controller] = [node for node in world.account.nodes if node.group == "controller"]
    controller.generation = 2**40  # it reports, and ignores the pointer
    before = world.clock.now
    done = world.update_to("b", "a")
    assert done["Status"] == "FAILED"
    assert f"stopped at controllers: no result after 10 minutes from controller-1 ({controller.instance})" in done["Reason"]
    assert 600 <= (world.clock.now - before).total_seconds() <= 800


@pytest.mark.fault(78)
def test_nodes_without_agent_are_listed_and_not_waited_for(world: RolloutWorld) -> None:
    [silent] = world.account.add("login", 1, has_agent=False)
    done = world.update_to("b", "a")
    assert done["Data"]["Rollout"] == (
        f"applied on {WORKERS + 2} of {WORKERS + 2} nodes; 1 without agent: {silent.instance} (login)"
    )


def test_without_any_agent_the_pointer_reaches_all_nodes_at_once(world: RolloutWorld) -> None:
    for node in world.account.nodes:
        node.has_agent = False
    world.account.events.clear()
    done = world.update_to("b", "a")
    assert done["Data"]["Rollout"].startswith(f"applied on 0 of 0 nodes; {WORKERS + 2} without agent: ")
    assert done["Data"]["Rollout"].endswith(f", {WORKERS - 3} more; no node reported, so the result is unknown")
    assert world.waves() == [(BOTH, 100)]


def test_nodes_that_do_not_run_are_ignored(world: RolloutWorld) -> None:
    next(node for node in world.account.nodes if node.group == "login").status = "SystemUpdating"
    assert world.update_to("b", "a")["Data"]["Rollout"] == f"applied on {WORKERS + 1} of {WORKERS + 1} nodes"
    assert (BOTH, 0) not in world.waves()


@pytest.mark.parametrize(
    "message",
    [
        "no JSON",
        "[]",
        "{}",
        '{"record": "bundle", "instance": 7}',
        '{"record": "state"}',
        '"record"',
        '{"record": "bundle", "instance": "i-1", "sha256": "a", "result": "failed", "generation": 1e999}',
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_malformed_records_are_ignored(world: RolloutWorld, message: str) -> None:
    world.account.write("workers/i-1", message)
    assert world.update_to("b", "a")["Status"] == "SUCCESS"


def forge(world: RolloutWorld, victim: FakeNode, stream: str, result: str) -> None:
    """Write the result of a node's attempt in its place, ahead in time and for a later pointer."""
    record = {"record": "bundle", "instance": victim.instance, "sha256": sha256_of("b"), "generation": 2**40, "result": result}
    world.account.write(stream, json.dumps(record), ahead_s=7200)


def test_a_failure_in_the_stream_of_another_node_stops_no_rollout(world: RolloutWorld) -> None:
    forge(world, world.account.nodes[0], f"controller/{world.account.nodes[-1].instance}", "failed")
    assert world.update_to("b", "a")["Status"] == "SUCCESS"


@pytest.mark.parametrize("is_in_own_stream", [False, True])
def test_a_forged_success_hides_no_failure(world: RolloutWorld, *, is_in_own_stream: bool) -> None:
    victim = break_on(world, "controller", "b")
    forge(world, victim, f"controller/{victim.instance if is_in_own_stream else 'i-0forged'}", "applied")
    assert "step 'groups and users': uid 7 is taken" in world.update_to("b", "a")["Reason"]


def test_a_record_is_not_newer_than_its_ingestion() -> None:
    record = {"record": "bundle", "instance": "i-1", "sha256": "b", "generation": 2}
    forged, failed = written({**record, "result": "applied"}, {**record, "result": "failed"})
    [node] = fleet_of([Node("workers", "i-1", "Running", "")], [failed, {**forged, "timestamp": 7_200_000}], {}).nodes
    assert node.failure("b", 2) == "failed"


def test_a_time_ahead_of_its_ingestion_does_not_keep_an_agent_alive(world: RolloutWorld) -> None:
    node = world.account.nodes[-1]
    node.has_agent = False
    world.account.write(f"workers/{node.instance}", json.dumps({"record": "state", "instance": node.instance}), ahead_s=7200)
    world.clock.advance(rollout_api.REPORTED_S)
    assert world.update_to("b", "a")["Data"]["Rollout"].endswith(f"; 1 without agent: {node.instance} (workers)")


@pytest.mark.parametrize("value", ['{"generation": 1e999}', "[" * 100_000], ids=["infinite", "deep"])
def test_a_pointer_that_nothing_can_read_is_malformed(value: str) -> None:
    pointer = Pointer(1, Bundle("bucket", "lifecycle/a", "sha"), Reach()).text
    assert Pointer.parse(value if value.startswith("[") else pointer.replace('"generation":1', '"generation":1e999')) is None


@pytest.mark.parametrize("text", ["\U0001f600", '"', "\x07", "\ud800"], ids=["four-bytes", "quote", "bell", "surrogate"])
def test_a_node_cannot_make_a_success_too_long_for_cloudformation(world: RolloutWorld, text: str) -> None:
    node = break_on(world, "controller", "b")
    world.account.texts = {"node": 900 * text, "step": 900 * text, "message": 900 * text}
    done = world.update_to("b", "a", OnFailure="warn")  # the world checks the response's size
    assert done["Status"] == "SUCCESS"
    assert done["Data"]["Rollout"].startswith(f"stopped at controllers: {node.instance} (controller): step '")
    assert done["Data"]["Rollout"].endswith(CONTINUE)
    assert done["Data"]["Rollout"].isprintable()


@pytest.mark.fault(79)
@pytest.mark.parametrize("kind", ["forward", "back"])
def test_a_step_that_dies_at_any_call_converges(kind: str) -> None:
    calls = 1
    while True:
        world = RolloutWorld()
        world.account.add("controller", 1)
        world.account.add("workers", 3)
        world.finish(world.rollout("Create", "a"))
        old, new = ("a", "b") if kind == "forward" else ("b", "a")
        if kind == "back":
            break_on(world, "controller", "b")
            assert world.update_to("b", "a")["Status"] == "FAILED"
        world.account.dies_at, world.account.calls = calls, 0
        done = world.update_to(new, old)
        assert done["Data"] == {"Rollout": "applied on 4 of 4 nodes"}, calls
        assert len(world.account.running(new)) == 4
        assert world.waves()[-1] == (BOTH, 100)
        if world.account.calls < calls:
            return
        calls += 1


def test_a_cancelled_update_is_undone_by_the_newer_request(world: RolloutWorld) -> None:
    world.deliver(world.rollout("Update", "b", "a"))
    world.run(75)
    assert world.waves() == [FIRST_WAVE]
    done = world.update_to("a", "b")
    assert done["Status"] == "SUCCESS"
    world.run(3600)
    assert [pointer.bundle.sha256 for pointer in world.account.written] == [sha256_of("b"), sha256_of("a")]
    assert len(world.account.running("a")) == WORKERS + 2


def test_an_older_request_that_arrives_late_changes_nothing(world: RolloutWorld) -> None:
    late = world.rollout("Update", "b", "a")
    assert world.update_to("c", "a")["Status"] == "SUCCESS"
    assert "superseded" in world.finish(late)["Reason"]
    assert world.account.written[-1].bundle.sha256 == sha256_of("c")


def test_a_step_of_an_older_request_that_was_not_stopped_writes_nothing(
    world: RolloutWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.states, "stop_execution", fake_call("stepfunctions", "StopExecution", dict))
    older = world.deliver(world.rollout("Update", "b", "a"))
    world.clock.advance(5)
    assert world.finish(world.rollout("Update", "c", "a"))["Status"] == "SUCCESS"
    assert "superseded" in world.response(older)["Reason"]
    assert {pointer.bundle.sha256 for pointer in world.account.written} == {sha256_of("c")}


def test_a_node_that_failed_a_bundle_runs_no_bundle() -> None:
    node = Node("workers", "i-1", "Running", "")
    records = [
        {"record": "bundle", "instance": "i-1", "sha256": "a", "generation": 1, "result": "applied"},
        {"record": "bundle", "instance": "i-1", "sha256": "b", "generation": 2, "result": "failed"},
    ]
    events = written(*records)
    [before], [after] = (fleet_of([node], events[:count], {}).nodes for count in (1, 2))
    assert before.has_applied("a", 3)
    assert not after.has_applied("a", 3)


@pytest.mark.parametrize("order", [1, -1], ids=["in-order", "reversed"])
def test_the_newest_records_of_a_node_count_in_any_order_of_reading(order: int) -> None:
    records: list[dict[str, Any]] = [
        {"record": "state", "instance": "i-1", "sha256": "c"},
        {"record": "state", "instance": "i-1", "sha256": "a"},
        {"record": "bundle", "instance": "i-1", "sha256": "b", "generation": 2, "result": "failed"},
    ]
    events = written(*records)
    [found] = fleet_of([Node("workers", "i-1", "Running", "")], events[::order], {}).nodes
    assert (found.sha256, found.failure("b", 2)) == ("", "failed")


def test_a_record_for_an_earlier_pointer_that_comes_late_does_not_hide_a_failure() -> None:
    failed = {"record": "bundle", "instance": "i-1", "sha256": "b", "generation": 9, "result": "failed", "step": "users"}
    events = written(failed, {**failed, "generation": 1}, {**failed, "generation": 8, "result": "applied"})
    [node] = fleet_of([Node("workers", "i-1", "Running", "")], events, {}).nodes
    assert (node.failure("b", 9), node.has_applied("b", 9)) == ("step 'users'", False)


@pytest.mark.parametrize(
    ("operation", "code", "is_retried"),
    [
        ("GetParameter", "AccessDeniedException", False),
        ("PutParameter", "AccessDeniedException", False),
        ("ListClusterNodes", "ThrottlingException", True),
        ("FilterLogEvents", "ResourceNotFoundException", False),
        ("FilterLogEvents", "ServiceUnavailableException", True),
    ],
)
def test_a_refused_call_ends_the_rollout_in_time(world: RolloutWorld, operation: str, code: str, *, is_retried: bool) -> None:
    world.account.refusals[operation] = code
    before = world.clock.now
    done = world.update_to("b", "a")
    assert done["Status"] == "FAILED"
    assert f"{operation}: {code}" in done["Reason"]
    assert ((world.clock.now - before).total_seconds() > 3400) == is_retried


@pytest.fixture
def signing(world: RolloutWorld, monkeypatch: pytest.MonkeyPatch) -> RolloutWorld:
    """The same with a client of KMS; the content of the bucket is in other tests."""
    monkeypatch.setattr(ClusterApi, "scripts_refusal", lambda *_: "")
    world.has_scripts = True
    return world


def test_each_wave_is_signed_with_its_own_generation(signing: RolloutWorld) -> None:
    assert signing.update_to("b", "a", SigningKey="key-1")["Status"] == "SUCCESS"
    assert len(signing.account.texts_written) == 4
    for text in signing.account.texts_written:
        value = json.loads(text)
        signature, key = b64decode(value.pop("signature")), b64decode(value.pop("public_key"))
        assert (key, value["sha256"]) == (b"public key-1", sha256_of("b"))
        assert signature == f"key-1 signed {PARAMETER}\n{json.dumps(value, sort_keys=True)}".encode()
        assert len(text) < 4096


@pytest.mark.parametrize("operation", ["Sign", "GetPublicKey"])
def test_a_pointer_that_cannot_be_signed_is_not_written(signing: RolloutWorld, operation: str) -> None:
    signing.account.refusals[operation] = "AccessDeniedException"
    done = signing.update_to("b", "a", SigningKey="key-1")
    assert (done["Status"], signing.account.texts_written) == ("FAILED", [])
    assert "Sign: AccessDeniedException" in done["Reason"]


def test_reports_that_take_too_long_to_read_are_read_again(world: RolloutWorld) -> None:
    ticks = itertools.count(step=20)
    world.seconds = lambda: next(ticks)
    world.account.write("workers/i-1", "")
    world.account.events += world.account.events[-1:] * 999
    before = world.clock.now
    done = world.update_to("b", "a", OnFailure="warn")
    assert done["Data"]["Rollout"].startswith("stopped: FilterLogEvents: TooManyReports: the reports of the last 15 minutes")
    assert (world.clock.now - before).total_seconds() > 3400


@pytest.mark.fault(80)
def test_a_generation_far_ahead_of_the_clock_is_replaced(world: RolloutWorld) -> None:
    now = int(world.clock.now.timestamp())
    pointer = Pointer.parse(world.account.value or "")
    assert pointer
    world.account.value = pointer._replace(generation=now + 2 * 86400).text
    assert world.update_to("a", "a")["Status"] == "SUCCESS"
    assert now < world.account.written[-1].generation < now + 3600


def test_a_refused_call_does_not_fail_a_rollback(world: RolloutWorld) -> None:
    break_on(world, "controller", "b")
    world.update_to("b", "a")
    world.account.refusals["FilterLogEvents"] = "AccessDeniedException"
    done = world.update_to("a", "b")
    assert done["Status"] == "SUCCESS"
    assert "FilterLogEvents" in done["Data"]["Rollout"]
    assert (world.waves()[-1], world.account.written[-1].bundle.sha256) == ((BOTH, 100), sha256_of("a"))


def test_an_unknown_error_does_not_fail_a_rollback(world: RolloutWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    break_on(world, "controller", "b")
    world.update_to("b", "a")
    monkeypatch.setattr(rollout_api, "fleet_of", lambda *_: int("unknown"))
    done = world.update_to("a", "b")
    assert done["Status"] == "SUCCESS"
    assert "ValueError" in done["Data"]["Rollout"]
    assert world.account.written[-1].bundle.sha256 == sha256_of("a")


@pytest.mark.fault(77)
def test_a_continued_rollback_repairs_all_nodes_at_once_and_succeeds(world: RolloutWorld) -> None:
    node = break_on(world, "login", "b")
    world.update_to("b", "a")
    node.broken.add("a")
    assert world.update_to("a", "b")["Status"] == "SUCCESS"
    for _ in range(2):
        world.account.written.clear()
        assert world.update_to("a", "b")["Status"] == "SUCCESS"
        assert world.waves() == [(BOTH, 100)]
    assert world.update_to("b", "a")["Status"] == "FAILED"
    assert world.waves()[1] == FIRST_WAVE


def test_a_creation_goes_by_waves_if_nodes_run_another_bundle(world: RolloutWorld) -> None:
    world.account.value = None  # `lifecycle.follow` was new_nodes in between
    world.clock.advance(60)
    done = world.finish(world.rollout("Create", "b"))
    assert done["Data"] == {"Rollout": f"applied on {WORKERS + 2} of {WORKERS + 2} nodes"}
    assert world.waves() == [FIRST_WAVE, (BOTH, 0), (BOTH, first_percent(world)), (BOTH, 100)]


def test_a_creation_stops_at_the_first_failure_if_nodes_run_another_bundle(world: RolloutWorld) -> None:
    world.account.value = None
    break_on(world, "controller", "b")
    done = world.finish(world.rollout("Create", "b"))
    assert done["Status"] == "FAILED"
    assert "no previous scripts are known, so nodes that applied these keep them" in done["Reason"]
    assert world.waves() == [FIRST_WAVE]


@pytest.mark.fault(82)
def test_a_creation_waits_until_running_nodes_have_reported(world: RolloutWorld) -> None:
    world.account.value = None
    world.account.events.clear()  # the log group is new
    for node in world.account.nodes:
        node.has_agent = False
    world.deliver(world.rollout("Create", "b"))
    world.run(300)
    assert world.account.written == []
    for node in world.account.nodes:
        node.has_agent = True
    world.run(3600)
    assert world.waves()[0] == FIRST_WAVE
    assert len(world.account.running("b")) == WORKERS + 2


def test_a_creation_names_the_nodes_that_never_reported(world: RolloutWorld) -> None:
    world.account.value = None
    [silent] = world.account.add("login", 1, has_agent=False)
    before = world.clock.now
    done = world.finish(world.rollout("Create", "a"))
    assert done["Data"] == {"Rollout": f"{NEW_NODES}; 1 without agent: {silent.instance} (login)"}
    assert (world.clock.now - before).total_seconds() >= 5 * LONGEST_INTERVAL_S


def test_a_creation_with_a_node_that_runs_no_complete_bundle_goes_by_waves(world: RolloutWorld) -> None:
    world.account.value = None
    world.account.nodes[0].applied = ""
    world.finish(world.rollout("Create", "a"))
    assert world.waves()[0] == FIRST_WAVE


def test_a_creation_with_nodes_of_the_same_bundle_waits_for_none(world: RolloutWorld) -> None:
    world.account.value = None
    world.clock.advance(600)
    before = world.clock.now
    assert world.finish(world.rollout("Create", "a"))["Data"] == {"Rollout": NEW_NODES}
    assert (world.clock.now - before).total_seconds() <= 30


@pytest.mark.parametrize("parameters", ["", "no JSON"])
def test_properties_without_a_bundle_fail(parameters: str) -> None:
    world = RolloutWorld()
    raw: dict[str, Any] = world.rollout("Create", "a")
    raw["ResourceProperties"] = {**rollout_properties("a"), "Parameters": parameters}
    assert "Parameters: missing or malformed" in world.finish(raw)["Reason"]
    assert world.account.value is None
