"""Create, update and delete the quotas of a request in steps; at the end, send the response. Runs in Lambda as Step.

The state machine, the entry function and the responder are those of Custom::HyperPodCluster. Each step reads all quotas of the
cluster and makes the calls that are due, so it can be repeated after a crash at any call.

Fence: a step looks for a newer request before its first call, and a request makes no call while one of an older request can still
take effect (docs/adr/0007-executions-as-memory.md).
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from cluster_resource.aws_api import ApiError, Kind, states_client
from cluster_resource.deadline import FINAL, RETRY_S, Clock
from cluster_resource.decision import CUT, MAX_TEXT, Decision, Fail, Memory, Succeed, Wait
from cluster_resource.deletion import is_quiet
from cluster_resource.event import Event, Json, Owner
from cluster_resource.executions import LISTED_S, Executions
from cluster_resource.fence import fail_when_quiet, newer_request, superseded, with_older_requests
from cluster_resource.log import log
from cluster_resource.response import Send, failure, send, success
from quota_resource.convergence import Work, converge, delete
from quota_resource.errors import CallError, PendingError, PropertyError, QuotaError
from quota_resource.progress import Progress
from quota_resource.properties import Desired, cluster_arn_of, physical_id_of
from quota_resource.quota_api import QuotaApi, quota_client

PATIENCE_S = {**RETRY_S, Kind.ABSENT: 90, **dict.fromkeys(FINAL, 0)}
"""How long errors last that end the request; others are retried until the deadline."""


class Context(Protocol):
    """The invocation's context from Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time until the function times out."""


@functools.cache
def _client() -> Any:
    """Return the SageMaker client, once per sandbox."""
    return quota_client()


@functools.cache
def _executions(state_machine_arn: str) -> Executions:
    """Return the state machine's executions, once per sandbox."""
    return Executions(states_client(), state_machine_arn)


def handler(payload: Json, context: Context) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the response (`event`, `response`)."""
    executions = functools.partial(_executions, payload.get("machine", ""))
    host = Host(_client, lambda: context.get_remaining_time_in_millis() / 1000)
    return handle(payload, host, executions, send)


class Host(NamedTuple):
    """What a step has of the machine that it runs on."""

    client: Callable[[], Any]
    seconds_left: Callable[[], float]


def handle(payload: Json, host: Host, executions: Callable[[], Executions], send: Send) -> Json:
    """Do what the handler does, with given clients; sending the response needs none."""
    event = Event.parse(payload["event"])
    if payload.get("response"):
        send(event, payload["response"])
        return {"done": True}
    clock = Clock.of(payload)
    memory = Memory.load(payload.get("memory") or {})
    decision = fail_when_quiet(_decided(event, memory, clock, host, executions), clock)
    _log(event, decision, clock)
    return _result(event, decision)


def _decided(event: Event, memory: Memory, clock: Clock, host: Host, executions: Callable[[], Executions]) -> Decision:
    """Return the next action, after the calls of this step."""
    if clock.elapsed_s < LISTED_S:
        return Decision(Wait("waiting until Step Functions lists every request"), memory)
    memory = with_older_requests(event, memory, clock, executions)
    if memory.fence:
        return Decision(Fail(memory.fence), memory)
    if not is_quiet(memory, clock):
        return Decision(Wait("waiting until no older request can make calls"), memory)
    try:
        newer = newer_request(event, clock, executions())
        decision = superseded(newer, memory) if newer else _worked(event, memory, clock, host)
    except ApiError as error:
        decision = _after_error(str(error), error.kind, memory, clock)
    return _at_deadline(event, decision, clock)


def _worked(event: Event, memory: Memory, clock: Clock, host: Host) -> Decision:
    """Make the calls; the memory keeps what was accepted."""
    progress = Progress(memory.rest)
    work = Work(QuotaApi(host.client(), host.seconds_left), Owner(event.stack_id, event.logical_id), progress, [], [])
    action: Succeed | Wait | Fail
    try:
        note = _phase(event, work)
        action = Succeed(note, {"Result": _cut(note)})
    except PropertyError as error:
        action = Succeed(f"no quotas: {error}") if event.request_type == "Delete" else Fail(str(error))
    except QuotaError as error:
        action = Fail(_cut(str(error)))
    except PendingError as pending:
        action = Wait(_cut(str(pending)))
    except (ApiError, CallError) as error:
        return _after_error(str(error), error.kind, _stored(memory, progress), clock)
    return Decision(action, _stored(memory, progress)._replace(last_error="", last_error_since=""))


def _phase(event: Event, work: Work) -> str:
    """Converge or delete; return the result as text."""
    if event.request_type == "Delete":
        return delete(work, cluster_arn_of(event.properties))
    desired, before = Desired.of(event.properties), Desired.before(event.old_properties)
    note = converge(work, desired, before)
    is_rollback = event.physical_id == physical_id_of(event.properties)
    if is_rollback and before.cluster_arn not in ("", desired.cluster_arn):
        # The failed replacement's own Delete never comes: CloudFormation does not know its physical ID.
        delete(work, before.cluster_arn)
    return note


def _stored(memory: Memory, progress: Progress) -> Memory:
    return memory._replace(rest={**memory.rest, **progress.dump()})


def _after_error(text: str, kind: Kind, memory: Memory, clock: Clock) -> Decision:
    """Wait, or fail if the same kind of error has lasted too long; without a limit it is retried until the deadline."""
    patience = PATIENCE_S.get(kind)
    since = memory.last_error_since if memory.last_error.startswith(f"{kind.value}: ") else str(clock)
    memory = memory._replace(last_error=f"{kind.value}: {text}"[:500], last_error_since=since)
    is_over = patience is not None and clock.since_s(since) >= patience
    return Decision(Fail(text) if is_over else Wait(text), memory)


def _at_deadline(event: Event, decision: Decision, clock: Clock) -> Decision:
    """Fail instead of a wait after the deadline."""
    if not clock.is_past_deadline or not isinstance(decision.action, Wait):
        return decision
    again = "delete" if event.request_type == "Delete" else "deploy"
    return Decision(Fail(f"{decision.action.note}; {again} again (stopped after 57 minutes)"), decision.memory)


def _result(event: Event, decision: Decision) -> Json:
    response: Json | None = None
    match decision.action:
        case Succeed(note=note, data=data):
            response = success(_physical_id(event, has_changed=True), note, data)
        case Fail(reason=reason):
            response = failure(_physical_id(event, has_changed=False), reason)
    return {"done": response is not None, "memory": decision.memory.dump(), "response": response}


def _physical_id(event: Event, *, has_changed: bool) -> str:
    """Return the physical ID: it changes only with a successful Update, and a Delete keeps the one that it got."""
    if event.physical_id and (event.request_type == "Delete" or not has_changed):
        return event.physical_id
    try:
        return physical_id_of(event.properties)
    except PropertyError:
        return event.physical_id or event.logical_id


def _cut(text: str) -> str:
    """Return the text cut to leave room for the rest of the response."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}{CUT}"


def _log(event: Event, decision: Decision, clock: Clock) -> None:
    """Log the progress, one line per step."""
    action = decision.action
    log(
        "step",
        request=f"{event.request_type} {event.logical_id}",
        cluster=event.properties.get("ClusterArn"),
        elapsed_s=round(clock.elapsed_s),
        next=type(action).__name__,
        note=action.reason if isinstance(action, Fail) else action.note,
    )
