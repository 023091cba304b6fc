"""Runs in Lambda as the step function: one look at the cluster, at most one call, every 30 seconds; and the answer at the end.

Its role may read clusters, change those that carry the stack's tags, and list the state machine's executions. It keeps nothing:
what it knows comes in and goes out.

Fence: before each call that changes something it looks for a newer request for the same resource, and ends this one if there is
one. So an older request changes nothing, however late it began and whoever failed to stop it.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from cluster_resource import reasons, response, waits
from cluster_resource.aws_api import ApiError, logs_client, sagemaker_client, states_client, translated
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.deadline import Moment, after_error
from cluster_resource.decision import Action, Call, Decision, Fail, Memory, Succeed, Wait
from cluster_resource.deletion import is_quiet
from cluster_resource.desired import Desired, PropertyError
from cluster_resource.event import CLUSTER, DELETION, Event, Json, execution_name, physical_id
from cluster_resource.executions import LISTED_S, Execution, Executions
from cluster_resource.log import log
from cluster_resource.observed import Cluster
from cluster_resource.reconcile import decide, name_to_look_at

if TYPE_CHECKING:
    from cluster_resource.diagnostics import Witness


@functools.cache
def _api() -> ClusterApi:
    """The API, made once per sandbox."""
    return ClusterApi(sagemaker_client())


@functools.cache
def _executions(state_machine_arn: str) -> Executions:
    """The state machine's executions, made once per sandbox, for steps that change something."""
    return Executions(states_client(), state_machine_arn)


class Context(Protocol):
    """What Lambda tells of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """The time until the function is ended."""


def handler(payload: Json, context: Context) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the answer (`event`, `answer`)."""
    return handle(payload, _api, lambda: _executions(payload["machine"]), response.send, lambda: _witness(context))


def _witness(context: Context) -> "Witness":
    """Who looks at nodes that failed; no healthy step pays for its import."""
    from cluster_resource.diagnostics import Witness  # noqa: PLC0415  at need alone

    return Witness(logs_client, lambda: context.get_remaining_time_in_millis() / 1000)


def handle(
    payload: Json,
    api: Callable[[], ClusterApi],
    executions: Callable[[], Executions],
    send: response.Send,
    witness: "Callable[[], Witness] | None" = None,
) -> Json:
    """The handler with what it reaches out to: sending needs no client, so that none can keep an answer from going out."""
    if payload.get("answer"):
        send(Event.parse(payload["event"]), payload["answer"])
        return {"done": True}
    return step(payload, api(), executions, witness)


def step(
    payload: Json,
    api: ClusterApi,
    executions: Callable[[], Executions],
    witness: "Callable[[], Witness] | None" = None,
) -> Json:
    """Look, decide, do; tell whether the request is done, what to remember, and the answer."""
    event = Event.parse(payload["event"])
    memory = Memory.load(payload.get("memory") or {})
    moment = Moment.of(payload)
    if event.resource_type == CLUSTER:
        decision, cluster = _cluster(event, memory, moment, api, executions)
    elif memory.fence:
        decision, cluster = Decision(Fail(memory.fence), memory), None
    elif event.resource_type == DELETION:
        decision, cluster = waits.step_deletion(event, memory, moment, api), None
    else:
        decision, cluster = waits.step_wait(event, memory, moment, api)
    _log(event, cluster, decision, moment)
    result = _result(event, decision)
    if cluster and isinstance(decision.action, Fail) and decision.action.of_nodes:
        from cluster_resource.diagnostics import Found, explained  # noqa: PLC0415  at need alone

        found = witness().look(api, cluster, decision.memory) if witness else Found()
        result["answer"] = explained(event, result["answer"], cluster, found)
    return result


def _cluster(
    event: Event, memory: Memory, moment: Moment, api: ClusterApi, executions: Callable[[], Executions]
) -> tuple[Decision, Cluster | None]:
    """Do one step for the cluster, knowing which older requests can still change it."""
    if moment.elapsed_s < LISTED_S:
        return Decision(Wait("waiting until Step Functions lists every request"), memory), None
    memory = _after_a_look(event, memory, moment, executions)
    if memory.fence:
        decision, cluster = Decision(Fail(memory.fence), memory), None
    else:
        decision, cluster = _changed(event, memory, moment, api, executions)
    if isinstance(decision.action, Fail) and not is_quiet(decision.memory, moment):
        # CloudFormation acts on a FAILED answer, too.
        reason = f"waiting for calls of an older request before this answer: {decision.action.reason}"
        decision = Decision(Wait(reason), decision.memory)
    return decision, cluster


def _after_a_look(event: Event, memory: Memory, moment: Moment, executions: Callable[[], Executions]) -> Memory:
    """Look for older requests once; an error leaves the question open until the next step, or until the lease is over."""
    if memory.contested is not None:
        return memory
    try:
        with translated("ListExecutions"):
            return memory._replace(contested=executions().is_contested(event, moment.started, moment.now))
    except ApiError as error:
        log("older requests cannot be listed", error=str(error))
        return memory


def _changed(
    event: Event, memory: Memory, moment: Moment, api: ClusterApi, executions: Callable[[], Executions]
) -> tuple[Decision, Cluster | None]:
    try:
        desired = Desired.of(event, api.request_shape)
    except PropertyError as error:
        return Decision(Fail(str(error)), memory), None
    if memory.reclaimed and memory.cluster not in ("", event.physical_id):
        desired = desired._replace(old_request=None)
    cluster = None
    try:
        cluster = api.cluster(name_to_look_at(desired, memory), is_deletion=event.request_type == "Delete")
    except ApiError as error:
        return _in_time(after_error(error, desired, memory, moment), desired, moment), None
    decision = decide(desired, cluster, memory, moment)
    if not isinstance(decision.action, Call):
        return decision, cluster
    try:
        newer = _newer(event, moment, executions())
        return (_superseded(newer, decision) if newer else _made(decision.action, api)), cluster
    except ApiError as error:
        return after_error(error, desired, decision.memory, moment), cluster


def _newer(event: Event, moment: Moment, executions: Executions) -> Execution | None:
    with translated("ListExecutions"):
        return executions.newer(event, moment.started)


def _superseded(newer: Execution, decision: Decision) -> Decision:
    return Decision(Fail(f"superseded by a newer request for the same resource ({newer.name})"), decision.memory)


def _made(action: Call, api: ClusterApi) -> Decision:
    """Make the call; what follows from it is the next step's."""
    api.make(action)
    return Decision(Wait(f"{action.operation}: {action.note}" if action.note else action.operation), action.then)


def _in_time(decision: Decision, desired: Desired, moment: Moment) -> Decision:
    """A service that cannot be read has until the deadline."""
    if moment.is_past_deadline and isinstance(decision.action, Wait):
        return Decision(Fail(reasons.late(desired, None, decision.memory)), decision.memory)
    return decision


def _result(event: Event, decision: Decision) -> Json:
    verdict: Json | None
    match decision.action:
        case Succeed(note=note, data=data):
            is_elsewhere = event.request_type == "Update" and bool(decision.memory.cluster)
            verdict = response.success(decision.memory.cluster if is_elsewhere else physical_id(event), note, data)
        case Fail(reason=reason, apart=apart):
            verdict = response.failure(f"none-{execution_name(event)}" if apart else physical_id(event), reason)
        case _:
            verdict = None
    return {"done": verdict is not None, "memory": decision.memory.dump(), "answer": verdict}


def _log(event: Event, cluster: Cluster | None, decision: Decision, moment: Moment) -> None:
    """The progress, one line per step."""
    log(
        "step",
        request=f"{event.request_type} {event.logical_id}",
        cluster=cluster.name if cluster else None,
        status=cluster.status if cluster else "absent or not looked at",
        nodes=cluster.progress if cluster else None,
        elapsed_s=round(moment.elapsed_s),
        next=type(decision.action).__name__,
        note=_note(decision.action),
    )


def _note(action: Action) -> Any:
    return action.reason if isinstance(action, Fail) else action.note
