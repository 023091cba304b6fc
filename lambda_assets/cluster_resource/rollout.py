"""Move the pointer of running nodes wave by wave: Custom::HyperPodRollout (docs/internals/custom-resource.md)."""

from collections.abc import Callable

from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.deadline import RETRY_S, Clock, is_final, with_error
from cluster_resource.decision import CUT, MAX_TEXT, Call, Decision, Fail, Memory, Succeed, Wait, cut
from cluster_resource.deletion import is_quiet
from cluster_resource.event import Event, Json
from cluster_resource.executions import Executions
from cluster_resource.fence import enter, fail_when_quiet, newer_request, superseded
from cluster_resource.pointer import CONTROLLER, FULL, LOGIN, Bundle, Pointer, Reach
from cluster_resource.reports import Fleet
from cluster_resource.rollout_api import RolloutApi
from cluster_resource.waves import CONTROLLERS, LAST, WAVES, next_controllers, next_wave, reach_of, report_of, stop_reason

ENDED_S = {**RETRY_S, Kind.ABSENT: 90}
"""How long errors last that end the rollout; others are retried until the deadline."""

FIRST_REPORTS_S = 450
"""How long a Create waits for the first report of each running node."""

AFTER_FAILURE = {
    "Create": "; no previous scripts are known, so nodes that applied these keep them: fix the cause and deploy again",
    "Update": "; the rollback returns all nodes to the previous scripts",
    "Delete": "",
}

UNCHANGED = "no change for running nodes"
NEW_NODES = "new nodes start with this bundle"
CONTINUE = "; fix the cause, change a script or setting and deploy: without a change, CloudFormation does not continue"


class Rollout:
    """The desired state of one request."""

    def __init__(self, event: Event, memory: Memory) -> None:
        properties = event.properties
        self.event = event
        names = ("ClusterName", "Parameter", "LogGroup", "SigningKey")
        self.cluster, self.parameter, self.log_group, self.key = (str(properties.get(name) or "") for name in names)
        self.bundle = Bundle.of(properties)
        self.is_changed = self.bundle != Bundle.of(event.old_properties or {})
        self.is_create = event.request_type == "Create"
        self.fails = properties.get("OnFailure") != "warn" and not memory.undo
        groups = ((CONTROLLER, "ControllerGroups"), (LOGIN, "LoginGroups"))
        self.roles = {str(group): role for role, name in groups for group in properties.get(name) or ()}


def step_rollout(event: Event, memory: Memory, clock: Clock, api: RolloutApi, executions: Callable[[], Executions]) -> Decision:
    """Do one step."""
    entered = enter(event, memory, clock, executions)
    if isinstance(entered, Decision):
        return fail_when_quiet(entered, clock)
    memory = entered
    rollout = Rollout(event, memory)
    try:
        decision = _decided(rollout, memory, clock, api)
        if isinstance(decision.action, Call) and (refused := _refusal(rollout, memory, api)):
            decision = Decision(Fail(refused), memory)
        if isinstance(decision.action, Call):
            newer = newer_request(event, clock, executions())
            decision = superseded(newer, memory) if newer else _executed(decision.action, rollout, clock, api)
    except ApiError as error:
        decision = _after_error(error, rollout, memory, clock)
    return fail_when_quiet(decision, clock)


def _refusal(rollout: Rollout, memory: Memory, api: RolloutApi) -> str:
    """Return why the pointer may not move to the bundle; nodes compare the hash again, and a rollback may not fail."""
    is_begun = memory.undo or memory.generation or rollout.event.request_type == "Delete"
    return "" if is_begun else api.scripts_refusal(rollout.event.properties)


def _decided(rollout: Rollout, memory: Memory, clock: Clock, api: RolloutApi) -> Decision:
    is_delete = rollout.event.request_type == "Delete"
    if not rollout.bundle.sha256 and not is_delete:
        return Decision(Fail("Parameters: missing or malformed; deploy again with the release of the functions"), memory)
    decision = _deleted(rollout, memory, clock) if is_delete else _advanced(rollout, memory, clock, api)
    if clock.is_past_deadline and isinstance(decision.action, Wait):
        return _ended(rollout, f"stopped after 57 minutes: {decision.action.note}", decision.memory)
    return decision


def _deleted(rollout: Rollout, memory: Memory, clock: Clock) -> Decision:
    """Delete the pointer; without a pointer, nodes keep their scripts."""
    return _when_quiet(Decision(Call("DeleteParameter", {"Name": rollout.parameter}, memory), memory), clock)


def _executed(call: Call, rollout: Rollout, clock: Clock, api: RolloutApi) -> Decision:
    """Make the call; a Create whose nodes run no other bundle waits for none."""
    api.execute(call, rollout.key)
    if rollout.event.request_type == "Delete":
        return Decision(Succeed("the bundle parameter is deleted"), call.then)
    if call.then.at_once and is_quiet(call.then, clock):
        return _succeeded(call.note, call.then)
    return Decision(Wait(f"{call.operation}: {call.note}"), call.then)


def _advanced(rollout: Rollout, memory: Memory, clock: Clock, api: RolloutApi) -> Decision:
    pointer = api.pointer(rollout.parameter)
    pointer = None if pointer and pointer.is_ahead(clock.now) else pointer
    is_full = pointer is not None and (pointer.bundle, pointer.reach) == (rollout.bundle, FULL)
    if is_full and not memory.generation and (rollout.is_create or not rollout.is_changed):
        return _when_quiet(_succeeded(NEW_NODES if rollout.is_create else UNCHANGED, memory), clock)
    if memory.undo and not (is_full and _own(pointer, rollout, memory, clock)):
        return _write(rollout, pointer, (LAST, FULL), memory, clock)  # before the reports, which may be unreadable
    fleet = _fleet(rollout, pointer, memory, api)
    if rollout.is_create and not memory.generation:
        if fleet.without_agent and clock.elapsed_s < FIRST_REPORTS_S:
            return Decision(Wait("waiting for the first reports of running nodes"), memory)
        memory = memory._replace(at_once=not fleet.runs_other(rollout.bundle.sha256))
    if memory.at_once:
        report = report_of(fleet, FULL, rollout.bundle.sha256, memory.generation)
        return _write(rollout, pointer, (LAST, FULL), memory, clock, note=f"{NEW_NODES}{report.without_agent}")
    return _next_wave(rollout, pointer, fleet, memory, clock)


def _fleet(rollout: Rollout, pointer: Pointer | None, memory: Memory, api: RolloutApi) -> Fleet:
    """Return the running nodes; no error here may fail a rollback."""
    try:
        return api.fleet(rollout.cluster, rollout.log_group, rollout.roles, pointer)
    except ApiError:
        raise
    except Exception as error:
        if not memory.undo:
            raise
        raise ApiError(Kind.INVALID, "FilterLogEvents", type(error).__name__, str(error)) from error


def _next_wave(rollout: Rollout, pointer: Pointer | None, fleet: Fleet, memory: Memory, clock: Clock) -> Decision:
    wave = LAST if memory.undo else memory.wave
    own = _own(pointer, rollout, memory, clock)
    controllers = own.reach.instances if own else ()
    while True:
        wave = next_wave(wave, fleet)
        memory = memory if wave == memory.wave else memory._replace(wave=wave, wave_since="")
        percent, reach = reach_of(wave, fleet, memory.compute_percent, controllers)
        memory = memory._replace(compute_percent=percent)
        if own is None or own.reach != reach:
            return _write(rollout, pointer, (wave, reach), memory, clock)
        memory = memory._replace(generation=memory.generation or own.generation, wave_since=memory.wave_since or str(clock))
        report = report_of(fleet, reach, rollout.bundle.sha256, memory.generation)
        waited_s = clock.since_s(memory.wave_since)
        stopped = stop_reason(report, waited_s)
        if stopped and not memory.undo:
            return _ended(rollout, f"stopped at {WAVES[wave].name}: {stopped}{report.without_agent}", memory)
        if stopped or (wave == LAST and not report.waiting):
            text = f"applied on {report.applied}{f'; {stopped}' if stopped else ''}{report.without_agent}"
            return _when_quiet(_succeeded(text, memory), clock)
        if report.waiting:
            return Decision(Wait(f"{WAVES[wave].name}: applied on {report.applied}, waiting for {report.waiting}"), memory)
        if wave == CONTROLLERS and (more := next_controllers(fleet, reach.instances)):
            return _write(rollout, pointer, (wave, reach._replace(instances=more)), memory, clock)
        wave += 1


def _own(pointer: Pointer | None, rollout: Rollout, memory: Memory, clock: Clock) -> Pointer | None:
    """Return the pointer if this request wrote it; a step that died in its first write did not store that."""
    if pointer is None or pointer.bundle != rollout.bundle:
        return None
    return pointer if memory.generation or pointer.generation >= int(clock.started.timestamp()) else None


def _write(
    rollout: Rollout, pointer: Pointer | None, target: tuple[int, Reach], memory: Memory, clock: Clock, *, note: str = ""
) -> Decision:
    """Return the write of a wave's pointer. Its generation is a time, so that it rises after a deletion of the parameter too."""
    generation = max(pointer.generation + 1 if pointer else 0, memory.generation + 1, int(clock.now.timestamp()))
    wave, reach = target
    value = Pointer(generation, rollout.bundle, reach)
    then = memory._replace(generation=memory.generation or generation, wave=wave, wave_since=str(clock))
    arguments: Json = {"Name": rollout.parameter, "Value": value.text, "Type": "String", "Overwrite": True}
    return Decision(Call("PutParameter", arguments, then, note or f"rollout {generation} to {WAVES[wave].name}"), memory)


def _when_quiet(decision: Decision, clock: Clock) -> Decision:
    if is_quiet(decision.memory, clock):
        return decision
    return Decision(Wait("waiting until no older request can write the bundle parameter"), decision.memory)


def _after_error(error: ApiError, rollout: Rollout, memory: Memory, clock: Clock) -> Decision:
    memory = with_error(error, memory, clock)
    if is_final(error, memory, clock, ENDED_S) or clock.is_past_deadline:
        return _ended(rollout, f"stopped: {error}", memory)
    return Decision(Wait(str(error)), memory)


def _ended(rollout: Rollout, text: str, memory: Memory) -> Decision:
    """Fail, or only report where the file says so or a rollback needs success."""
    if not rollout.fails and rollout.event.request_type != "Delete":
        return _succeeded(text if memory.undo else f"{cut(text, MAX_TEXT - len(CONTINUE) - len(CUT))}{CONTINUE}", memory)
    return Decision(Fail(f"the rollout to running nodes {cut(text)}{AFTER_FAILURE[rollout.event.request_type]}"), memory)


def _succeeded(text: str, memory: Memory) -> Decision:
    return Decision(Succeed(text, {"Rollout": cut(text)}), memory)
