"""Apply, prune or delete the objects of a request in steps; at the end, send the response. Runs in Lambda as Step.

The state machine, the entry function and the responder are those of Custom::HyperPodCluster. Each step continues where the last
one ended, makes as many calls as fit into its time, and can be repeated: applying is idempotent, and a deletion names the object
that it read.

Fence: a step looks for a newer request before its first call, and a request makes no call while one of an older request can still
take effect (docs/adr/0007-executions-as-memory.md).
"""

import functools
import time
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple, Protocol

from cluster_resource.aws_api import ApiError, states_client
from cluster_resource.deadline import FINAL, RETRY_S, Clock
from cluster_resource.decision import CUT, MAX_TEXT, Decision, Fail, Memory, Succeed, Wait
from cluster_resource.deletion import is_quiet
from cluster_resource.event import Event, Json, Owner
from cluster_resource.executions import LISTED_S, Executions
from cluster_resource.fence import fail_when_quiet, newer_request, superseded, with_older_requests
from cluster_resource.log import log
from cluster_resource.response import Send, failure, send, success
from kubernetes_resource.apply import Position
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.eks_access import EksAccess, EksCluster, eks_access
from kubernetes_resource.errors import Kind, KubernetesError, PendingError
from kubernetes_resource.inventory import Inventory
from kubernetes_resource.objects import Desired, PropertyError, Target, references_in
from kubernetes_resource.phases import converge, delete
from kubernetes_resource.session import Session

GRACE_S = {Kind.UNAUTHORIZED: 300, Kind.FORBIDDEN: 300, Kind.UNTRUSTED: 90, Kind.ABSENT: 90}
"""How long errors last that end the request: an access entry takes effect within seconds, or minutes."""
FINAL_KINDS = (Kind.CONFLICT, Kind.FOREIGN, Kind.IN_USE, Kind.INVALID, Kind.REJECTED, Kind.TOO_LARGE)
APPLIED, ENDPOINT = "applied", "endpoint"
"""The names in the memory of how many objects were applied, and where."""


class Context(Protocol):
    """The invocation's context from Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time until the function times out."""


@functools.cache
def _access() -> EksAccess:
    """Return the access to EKS, once per sandbox."""
    return eks_access()


@functools.cache
def _executions(state_machine_arn: str) -> Executions:
    """Return the state machine's executions, once per sandbox."""
    return Executions(states_client(), state_machine_arn)


def handler(payload: Json, context: Context) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the response (`event`, `response`)."""
    executions = functools.partial(_executions, payload.get("machine", ""))
    host = Host(_access, lambda: context.get_remaining_time_in_millis() / 1000, time.sleep)
    return handle(payload, host, executions, send)


class Host(NamedTuple):
    """What a step has of the machine that it runs on."""

    access: Callable[[], EksAccess]
    seconds_left: Callable[[], float]
    sleep: Callable[[float], None]


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
        patience = 0 if error.kind in FINAL else RETRY_S.get(error.kind)
        decision = _after_error(str(error), error.kind.value, patience, memory, clock)
    return _at_deadline(event, decision, clock)


def _worked(event: Event, memory: Memory, clock: Clock, host: Host) -> Decision:
    """Make the calls; the memory keeps how far they came."""
    try:
        target = Target.of(event.properties)
        if event.request_type == "Update":
            target.check_name(event.physical_id)
        desired = None if event.request_type == "Delete" else Desired.of(event.properties)
    except PropertyError as error:
        refused = Succeed(f"no objects: {error}") if event.request_type == "Delete" else Fail(str(error))
        return Decision(refused, memory)
    cluster = host.access().cluster(target.cluster)
    without = _without_server(target, cluster, is_delete=desired is None)
    if without or cluster is None:
        return Decision(without or Succeed(), memory)
    with closing(host.access().client(cluster)) as client:
        session = Session(target, client, Discovery(client), host.seconds_left, host.sleep)
        return _phase(event, desired, session, _of_server(memory, cluster), clock)


def _without_server(target: Target, cluster: EksCluster | None, *, is_delete: bool) -> Wait | Succeed | Fail | None:
    """Return the action if there is no API server; without one there are no objects."""
    if cluster is None:
        text = f"EKS cluster {target.cluster} does not exist"
        return Succeed(text) if is_delete else Fail(f"ClusterName: {text}; create it first")
    if not is_delete and cluster.status in ("DELETING", "FAILED"):
        return Fail(f"ClusterName: EKS cluster {target.cluster} is {cluster.status}; create it again")
    if cluster.endpoint:
        return None
    text = f"EKS cluster {target.cluster} is {cluster.status} and has no API server"
    return Succeed(text) if is_delete else Wait(text)


def _of_server(memory: Memory, cluster: EksCluster) -> Memory:
    """Return the memory without the position if the EKS cluster was replaced: the new cluster has none of the objects."""
    applied = memory.rest.get(APPLIED, 0) if memory.rest.get(ENDPOINT) == cluster.endpoint else 0
    return memory._replace(rest={**memory.rest, APPLIED: applied, ENDPOINT: cluster.endpoint})


def _phase(event: Event, desired: Desired | None, session: Session, memory: Memory, clock: Clock) -> Decision:
    """Converge or delete."""
    inventory = Inventory(session.client, session.target, Owner(event.stack_id, event.logical_id))
    position = Position(int(memory.rest.get(APPLIED, 0)))
    action: Succeed | Wait
    try:
        if desired:
            note = converge(session, desired, inventory, position, references_in(event.old_properties or {}))
        else:
            note = delete(session, inventory, references_in(event.properties))
        action = Succeed(note, {"Result": _cut(note)})
    except PendingError as pending:
        action = Wait(str(pending))
    except KubernetesError as error:
        patience = 0 if error.kind in FINAL_KINDS else GRACE_S.get(error.kind)
        return _after_error(str(error), error.kind.value, patience, _stored(memory, position), clock)
    return Decision(action, _stored(memory, position)._replace(last_error="", last_error_since=""))


def _stored(memory: Memory, position: Position) -> Memory:
    return memory._replace(rest={**memory.rest, APPLIED: position.applied})


def _after_error(text: str, kind: str, patience: float | None, memory: Memory, clock: Clock) -> Decision:
    """Wait, or fail if the same kind of error has lasted too long; without a limit it is retried until the deadline."""
    since = memory.last_error_since if memory.last_error.startswith(f"{kind}: ") else str(clock)
    memory = memory._replace(last_error=f"{kind}: {text}"[:500], last_error_since=since)
    is_over = patience is not None and clock.since_s(since) >= patience
    return Decision(Fail(text) if is_over else Wait(text), memory)


def _at_deadline(event: Event, decision: Decision, clock: Clock) -> Decision:
    """Fail instead of a wait after the deadline."""
    if not clock.is_past_deadline or not isinstance(decision.action, Wait):
        return decision
    again = "delete" if event.request_type == "Delete" else "deploy"
    fix = "" if decision.memory.last_error else f"; remove what blocks it, then {again} again"
    return Decision(Fail(f"{decision.action.note}{fix} (stopped after 57 minutes)"), decision.memory)


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
        return Target.of(event.properties).physical_id
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
        target=event.properties.get("ClusterName"),
        applied=decision.memory.rest.get(APPLIED, 0),
        elapsed_s=round(clock.elapsed_s),
        next=type(action).__name__,
        note=action.reason if isinstance(action, Fail) else action.note,
    )
