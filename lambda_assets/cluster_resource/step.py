"""Observe the cluster and make at most one call, every 30 seconds; at the end, send the response. Runs in Lambda as Step.

It is stateless: the state machine passes its memory from step to step.
"""

import functools
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cluster_resource import reasons, waits
from cluster_resource.aws_api import ApiError, Kind, client_of, logs_client, reports_client, sagemaker_client
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.deadline import Clock, Context, after_error, seconds_left
from cluster_resource.decision import Action, Call, Decision, Fail, Memory, Succeed, Wait
from cluster_resource.desired import Desired
from cluster_resource.errors import PropertyError
from cluster_resource.event import CLUSTER, DELETION, ROLLOUT, WAIT, Event, Json, physical_id, physical_id_of_nothing
from cluster_resource.executions import Executions, executions_of
from cluster_resource.fence import enter, fail_when_quiet, newer_request, superseded
from cluster_resource.log import log
from cluster_resource.observed import Cluster
from cluster_resource.plan import removed_members
from cluster_resource.reconcile import decide, observed_name
from cluster_resource.refusals import immutable_changes
from cluster_resource.response import Send, failure, send, success

STARTS_NODES = ("CreateCluster", "UpdateCluster")
_UNREAD = {ROLLOUT: "running nodes"}

if TYPE_CHECKING:
    from cluster_resource.diagnostics import Diagnostics
    from cluster_resource.rollout_api import RolloutApi


@functools.cache
def _api() -> ClusterApi:
    """Return the SageMaker API, once per sandbox."""
    return ClusterApi(sagemaker_client(), functools.cache(client_of))


def handler(payload: Json, context: Context) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the response (`event`, `response`)."""
    executions = functools.partial(executions_of, payload.get("machine", ""))
    return handle(payload, _api, executions, send, lambda: _diagnostics(context), rollout_api=_rollout_api)


@functools.cache
def _rollout_api() -> "RolloutApi":
    """Return the calls of a rollout, once per sandbox."""
    from cluster_resource.rollout_api import RolloutApi  # noqa: PLC0415  not imported in other steps

    return RolloutApi(_api(), client_of("ssm"), reports_client())


def _diagnostics(context: Context) -> "Diagnostics":
    """Return the diagnostics of failed nodes."""
    from cluster_resource.diagnostics import Diagnostics  # noqa: PLC0415  not imported in steps without failures

    return Diagnostics(logs_client, functools.partial(seconds_left, context))


def handle(
    payload: Json,
    api: Callable[[], ClusterApi],
    executions: Callable[[], Executions],
    send: Send,
    diagnostics: "Callable[[], Diagnostics] | None" = None,
    *,
    rollout_api: "Callable[[], RolloutApi] | None" = None,
) -> Json:
    """Do what the handler does, with given clients; sending the response needs none, so that no client can prevent it."""
    if payload.get("response"):
        send(Event.parse(payload["event"]), payload["response"])
        return {"done": True}
    event = Event.parse(payload["event"])
    if event.resource_type == ROLLOUT and rollout_api:
        return _rollout(event, payload, rollout_api(), executions)
    return step(payload, api(), executions, diagnostics)


def _rollout(event: Event, payload: Json, api: "RolloutApi", executions: Callable[[], Executions]) -> Json:
    """Do one step for Custom::HyperPodRollout."""
    from cluster_resource.rollout import step_rollout  # noqa: PLC0415  not imported in other steps

    clock = Clock.of(payload)
    decision = step_rollout(event, Memory.load(payload.get("memory") or {}), clock, api, executions)
    _log(event, None, decision, clock)
    return _result(event, decision)


def step(
    payload: Json,
    api: ClusterApi,
    executions: Callable[[], Executions],
    diagnostics: "Callable[[], Diagnostics] | None" = None,
) -> Json:
    """Observe, decide and act; return whether the request is done, its memory and its response."""
    event = Event.parse(payload["event"])
    memory = Memory.load(payload.get("memory") or {})
    clock = Clock.of(payload)
    if event.resource_type == CLUSTER:
        decision, cluster = _cluster(event, memory, clock, api, executions)
    elif memory.fence:
        decision, cluster = Decision(Fail(memory.fence), memory), None
    elif event.resource_type == DELETION:
        decision, cluster = waits.step_deletion(event, memory, clock, api), None
    else:
        decision, cluster = waits.step_wait(event, memory, clock, api)
    if cluster and diagnostics and isinstance(decision.action, Wait):
        decision = _end_if_hopeless(event, decision, cluster, clock, api=api, diagnostics=diagnostics)
    _log(event, cluster, decision, clock)
    result = _result(event, decision)
    if cluster and isinstance(decision.action, Fail) and decision.action.diagnose:
        from cluster_resource.diagnostics import Findings, with_diagnostics  # noqa: PLC0415  as above

        begin = waits.first_start(event, clock) if event.resource_type == WAIT else clock.started
        findings = (
            diagnostics().collect(api, cluster, decision.memory, begin, decision.action.reason) if diagnostics else Findings()
        )
        result["response"] = with_diagnostics(event, result["response"], cluster, findings, is_late=decision.action.is_late)
    return result


def _end_if_hopeless(
    event: Event, waiting: Decision, cluster: Cluster, clock: Clock, *, api: ClusterApi, diagnostics: "Callable[[], Diagnostics]"
) -> Decision:
    """Return FAILED if the request waits for new nodes of a continuous cluster whose scripts cannot succeed."""
    memory, is_wait = waiting.memory, event.resource_type == WAIT
    if not (cluster.is_continuous and event.properties.get("Wait", "nodes") == "nodes") or event.request_type == "Delete":
        return waiting
    begin = waits.first_start(event, clock) if is_wait else datetime.fromisoformat(memory.updated_at or str(clock.started))
    groups = [group.name for group in cluster.groups if is_wait or memory.created_at or group.name in memory.awaited]
    if not cluster.missing(groups, waits.minimums(event.properties)):
        return waiting
    from cluster_resource.node_failures import end_if_hopeless  # noqa: PLC0415  as above

    found = end_if_hopeless(waiting, cluster, groups, Clock(clock.now, begin), api=api, diagnostics=diagnostics())
    return found if is_wait else fail_when_quiet(found, clock)


def _cluster(
    event: Event, memory: Memory, clock: Clock, api: ClusterApi, executions: Callable[[], Executions]
) -> tuple[Decision, Cluster | None]:
    """Do one step for the cluster, aware of older requests that can still change it."""
    entered = enter(event, memory, clock, executions)
    decision, cluster = (entered, None) if isinstance(entered, Decision) else _reconciled(event, entered, clock, api, executions)
    return fail_when_quiet(decision, clock), cluster


def _reconciled(
    event: Event, memory: Memory, clock: Clock, api: ClusterApi, executions: Callable[[], Executions]
) -> tuple[Decision, Cluster | None]:
    try:
        desired = Desired.of(event, api.request_shape)
    except PropertyError as error:
        return Decision(Fail(str(error)), memory), None
    if memory.reclaimed and memory.cluster not in ("", event.physical_id):
        desired = desired._replace(old_request=None)
    cluster = None
    try:
        cluster = api.cluster(observed_name(desired, memory), is_deletion=event.request_type == "Delete")
    except ApiError as error:
        return _fail_at_deadline(after_error(error, desired, memory, clock), desired, clock), None
    try:
        if (
            event.request_type == "Update"
            and cluster
            and (removed_members(desired, cluster) or any(immutable_changes(desired, cluster)))
        ):
            desired = desired._replace(is_rollback=api.is_rolling_back(event.stack_id))
    except ApiError as error:
        return _fail_at_deadline(after_error(error, desired, memory, clock), desired, clock), cluster
    decision = decide(desired, cluster, memory, clock)
    if isinstance(decision.action, Call):
        decision = _called(event, decision.action, desired, decision.memory, clock, api=api, executions=executions)
    return decision, cluster


def _called(
    event: Event,
    call: Call,
    desired: Desired,
    memory: Memory,
    clock: Clock,
    *,
    api: ClusterApi,
    executions: Callable[[], Executions],
) -> Decision:
    """Make the call unless it starts nodes with changed scripts, or a newer request exists."""
    try:
        if call.operation in STARTS_NODES and (refused := api.scripts_refusal(event.properties.get("Scripts") or {})):
            after = f"; {reasons.continue_rollback(desired.owner)}" if event.request_type == "Update" else ""
            return Decision(Fail(f"{refused}{after}"), memory)
        newer = newer_request(event, clock, executions())
        return superseded(newer, memory) if newer else _executed(call, api)
    except ApiError as error:
        return _after_failed_call(error, call, desired, memory, clock)


def _after_failed_call(error: ApiError, call: Call, desired: Desired, memory: Memory, clock: Clock) -> Decision:
    """Decide after a failed call; a rejected optional call is only noted."""
    if call.is_optional and error.kind is Kind.INVALID and error.operation == call.operation:
        return Decision(Wait(f"continuing without {error}"), memory._replace(rejected=str(error)[:500]))
    return after_error(error, desired, memory, clock)


def _executed(action: Call, api: ClusterApi) -> Decision:
    """Make the call; the next step observes its effect."""
    api.execute(action)
    return Decision(Wait(f"{action.operation}: {action.note}" if action.note else action.operation), action.then)


def _fail_at_deadline(decision: Decision, desired: Desired, clock: Clock) -> Decision:
    """Fail at the deadline if the cluster cannot be read."""
    if clock.is_past_deadline and isinstance(decision.action, Wait):
        return Decision(Fail(reasons.timed_out(desired, None, decision.memory)), decision.memory)
    return decision


def _result(event: Event, decision: Decision) -> Json:
    response: Json | None
    match decision.action:
        case Succeed(note=note, data=data):
            is_elsewhere = event.request_type == "Update" and bool(decision.memory.cluster)
            response = success(decision.memory.cluster if is_elsewhere else physical_id(event), note, data)
        case Fail(reason=reason, without_cluster=without_cluster):
            response = failure(physical_id_of_nothing(event) if without_cluster else physical_id(event), reason)
        case _:
            response = None
    return {"done": response is not None, "memory": decision.memory.dump(), "response": response}


def _log(event: Event, cluster: Cluster | None, decision: Decision, clock: Clock) -> None:
    """Log the progress, one line per step."""
    log(
        "step",
        request=f"{event.request_type} {event.logical_id}",
        cluster=cluster.name if cluster else None,
        status=cluster.status if cluster else _UNREAD.get(event.resource_type, "absent or not read"),
        nodes=cluster.progress if cluster else None,
        elapsed_s=round(clock.elapsed_s),
        next=type(decision.action).__name__,
        note=_note(decision.action),
    )


def _note(action: Action) -> Any:
    return action.reason if isinstance(action, Fail) else action.note
