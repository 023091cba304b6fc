"""Make all calls of a request in steps; at the end, send the response. Runs in Lambda as Step.

Each step continues where the last one ended, and can be repeated after a crash at any call.

Fence: a step looks for a newer request before its first call, and a request makes no call while one of an older request can still
take effect (docs/adr/0007-executions-as-memory.md).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cluster_resource.aws_api import Kind
from cluster_resource.deadline import FINAL, RETRY_S, Clock
from cluster_resource.decision import Decision, Fail, Memory, Succeed, Wait, cut
from cluster_resource.deletion import is_quiet
from cluster_resource.errors import CallError, FinalError, PendingError, PropertyError
from cluster_resource.event import Event, Json, physical_id_of_nothing, resource_hash
from cluster_resource.executions import Executions
from cluster_resource.fence import enter, fail_when_quiet, newer_request, superseded
from cluster_resource.log import log
from cluster_resource.response import MAX_BODY, Send, failure, success

PATIENCE_S: Mapping[Any, float] = {**RETRY_S, Kind.ABSENT: 90, **dict.fromkeys(FINAL, 0)}
"""By kind of error, how long those last that end the request; others are retried until the deadline."""


class Done(NamedTuple):
    """The end of a request: its result as text, and the attributes besides `Result`, whose text may be empty."""

    note: str
    attributes: Mapping[str, str] = {}


class Resource(NamedTuple):
    """A resource type: its calls, and its settings of the step."""

    calls: Callable[[Event, dict[str, Any]], Done]
    """Make the calls and return the result. The dict holds the progress, which is kept when a call fails."""
    physical_id: Callable[[Mapping[str, Any]], str]
    """Return the physical ID for the properties."""
    patience_s: Mapping[Any, float] = PATIENCE_S
    counters: tuple[str, ...] = ()
    """Members of the progress to log."""
    fix: str = ""
    """What to do after a wait until the deadline, before the next request."""
    look: Callable[[Event, dict[str, Any]], None] = lambda _event, _rest: None
    """Read what a request must know before its first change; called while no call may change anything."""
    first: str = ""
    """The member of the progress that a step leaves before the first step that changes anything."""


def handle(payload: Json, resource: Resource, executions: Callable[[], Executions], send: Send) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the response (`event`, `response`), which needs no client."""
    event = Event.parse(payload["event"])
    if payload.get("response"):
        send(event, payload["response"])
        return {"done": True}
    clock = Clock.of(payload)
    memory = Memory.load(payload.get("memory") or {})
    decision = fail_when_quiet(_decided(event, memory, clock, resource, executions), clock)
    _log(event, decision, clock, resource)
    return _result(event, decision, resource)


def _decided(event: Event, memory: Memory, clock: Clock, resource: Resource, executions: Callable[[], Executions]) -> Decision:
    """Return the next action, after the calls of this step."""
    if event.request_type == "Delete" and event.physical_id.startswith(f"none-{resource_hash(event)}-"):
        return Decision(Succeed("nothing to delete: its creation changed nothing"), memory)
    entered = enter(event, memory, clock, executions)
    if isinstance(entered, Decision):
        return _looked(event, entered, resource)
    if not is_quiet(entered, clock):
        return Decision(Wait("waiting until no older request can make calls"), entered)
    return _at_deadline(event, _called(event, entered, clock, resource, executions), clock, resource)


def _looked(event: Event, decision: Decision, resource: Resource) -> Decision:
    """Return the decision after a first look, which may fail: a later step repeats it."""
    if decision.memory.fence or not isinstance(decision.action, Wait):
        return decision
    rest = dict(decision.memory.rest)
    try:
        resource.look(event, rest)
    except (PropertyError, FinalError, PendingError, CallError) as error:
        log("first look failed", error=str(error))
    return decision._replace(memory=decision.memory._replace(rest=rest))


def _called(event: Event, memory: Memory, clock: Clock, resource: Resource, executions: Callable[[], Executions]) -> Decision:
    """Make the calls, unless there is a newer request."""
    rest = dict(memory.rest)
    action: Succeed | Wait | Fail
    try:
        newer = newer_request(event, clock, executions())
        if newer:
            return superseded(newer, memory)
        done = resource.calls(event, rest)
        action = Succeed(done.note, _attributes(done))
    except PropertyError as error:
        action = Succeed(f"nothing to delete: {error}") if event.request_type == "Delete" else Fail(str(error))
    except FinalError as error:
        action = Fail(cut(str(error)))
    except PendingError as pending:
        action = Wait(cut(str(pending)))
    except CallError as error:
        return _after_error(error, resource.patience_s.get(error.kind), memory._replace(rest=rest), clock)
    return Decision(action, memory._replace(rest=rest, last_error="", last_error_since=""))


def _attributes(done: Done) -> Json:
    """Return the resource's attributes, each cut to leave room for the rest of the response; an output cannot be empty."""
    return {name: cut(text) or "none" for name, text in {"Result": done.note, **done.attributes}.items()}


def _after_error(error: CallError, patience_s: float | None, memory: Memory, clock: Clock) -> Decision:
    """Wait, or fail if the same kind of error has lasted too long; without a limit it is retried until the deadline."""
    sign = f"{error.kind.value}: "
    since = memory.last_error_since if memory.last_error.startswith(sign) else str(clock)
    memory = memory._replace(last_error=f"{sign}{error}"[:500], last_error_since=since)
    is_over = patience_s is not None and clock.since_s(since) >= patience_s
    return Decision(Fail(str(error)) if is_over else Wait(str(error)), memory)


def _at_deadline(event: Event, decision: Decision, clock: Clock, resource: Resource) -> Decision:
    """Fail instead of a wait after the deadline."""
    if not clock.is_past_deadline or not isinstance(decision.action, Wait):
        return decision
    note, again = decision.action.note, "delete again" if event.request_type == "Delete" else "deploy again"
    fix = resource.fix if not decision.memory.last_error else ""
    next_request = "" if note.endswith(" again") else f"; {fix}{again}"
    return Decision(Fail(f"{note}{next_request} (stopped after 57 minutes)"), decision.memory)


def _result(event: Event, decision: Decision, resource: Resource) -> Json:
    response: Json | None = None
    # The state machine passes the response on beside the event: an uncut reason may be more than its state can hold.
    match decision.action:
        case Succeed(note=note, data=data):
            response = success(_physical_id(event, resource, has_changed=True), cut(note, MAX_BODY), data)
        case Fail(reason=reason):
            response = failure(_failed_id(event, decision.memory, resource), cut(reason, MAX_BODY))
    return {"done": response is not None, "memory": decision.memory.dump(), "response": response}


def _failed_id(event: Event, memory: Memory, resource: Resource) -> str:
    """Return the physical ID after a failure: a Create that changed nothing leaves nothing to its Delete."""
    has_changed_nothing = event.request_type == "Create" and bool(resource.first) and not memory.rest.get(resource.first)
    return physical_id_of_nothing(event) if has_changed_nothing else _physical_id(event, resource, has_changed=False)


def _physical_id(event: Event, resource: Resource, *, has_changed: bool) -> str:
    """Return the physical ID: it changes only with a successful Update, and a Delete keeps the one that it got."""
    if event.physical_id and (event.request_type == "Delete" or not has_changed):
        return event.physical_id
    try:
        return resource.physical_id(event.properties)
    except PropertyError:
        return event.physical_id or event.logical_id


def _log(event: Event, decision: Decision, clock: Clock, resource: Resource) -> None:
    """Log the progress, one line per step."""
    action = decision.action
    log(
        "step",
        request=f"{event.request_type} {event.logical_id}",
        cluster=event.properties.get("ClusterArn") or event.properties.get("ClusterName"),
        **{name: decision.memory.rest.get(name, 0) for name in resource.counters},
        elapsed_s=round(clock.elapsed_s),
        next=type(action).__name__,
        note=action.reason if isinstance(action, Fail) else action.note,
    )
