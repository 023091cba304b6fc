"""Start an execution for each request of CloudFormation. Runs in Lambda as the entry function.

It sends no response: an error here goes to the responder. docs/adr/0007-executions-as-memory.md has the order of requests.
"""

import os
from datetime import datetime

from cluster_resource.decision import Memory
from cluster_resource.event import ROLLOUT, Event, Json, cluster_name, created_name, execution_name, is_later
from cluster_resource.executions import Execution, Executions, executions_of
from cluster_resource.log import log
from cluster_resource.pointer import Bundle

MAX_COMPARED = 10
"""How many executions to read; older ones ended long before any late delivery."""

STOPPED = "stopped"
"""The first word of the result of a rollout that did not reach all nodes."""

SUPERSEDED_AT_START = "superseded by a newer request for the same resource, which started first"


def handler(raw: Json, _context: object) -> None:
    """Start the execution for one event."""
    launch(raw, executions_of(os.environ["STATE_MACHINE_ARN"]))


def launch(raw: Json, executions: Executions) -> None:
    """Start the request's execution and stop those of older requests."""
    event = Event.parse(raw)
    others = _other_requests(event, executions)
    newer = next((other for other, its in others if is_later(its.issued, event.issued)), None)
    earlier = [its for _, its in others]
    memory = Memory(
        fence=f"superseded: this request arrived after a newer one for the same resource ({newer.name})" if newer else "",
        cluster=_cluster_before_replacement(event, earlier),
        reclaimed=_is_reclaiming(event, earlier),
        undo=event.resource_type == ROLLOUT and _is_undo(event, others, executions),
        leftovers=_leftovers(event, others, executions),
    )
    started, is_new = executions.start(event, raw, memory)
    log("started", request=f"{event.request_type} {event.logical_id}", execution=execution_name(event), fenced=bool(newer))
    if newer:
        if not is_new:  # it started before the newer one was listed, without the fence
            executions.stop(executions.arn_of(event), SUPERSEDED_AT_START)
        return
    stop_older(event, started, executions)


def stop_older(event: Event, started: datetime, executions: Executions) -> None:
    """Stop the running executions of older requests, or this one if a newer one started unseen.

    Each request starts before it looks: of two that start at the same time, at least one sees the other.
    """
    is_superseded = False
    for other in executions.others(event):
        if other.is_newer_than(event, started):
            is_superseded = True
        elif other.is_running:
            executions.stop(other.arn, f"superseded by a newer request for the same resource ({execution_name(event)})")
            log("stopped", execution=other.name, by=execution_name(event))
    if is_superseded:
        executions.stop(executions.arn_of(event), SUPERSEDED_AT_START)


def _other_requests(event: Event, executions: Executions) -> list[tuple[Execution, Event]]:
    # By the date of the request: an execution can start after that of a newer request.
    found = sorted(executions.others(event)[:MAX_COMPARED], key=lambda other: (other.issued, other.started), reverse=True)
    return [(execution, Event.parse(executions.input_of(execution.arn)["event"])) for execution in found]


def _cluster_before_replacement(event: Event, others: list[Event]) -> str:
    """Return the cluster to which a rollback returns, if its name does not follow from the properties: the file fixed it."""
    name = cluster_name(event, event.properties)
    for other in others:
        is_undone = (other.properties, other.old_properties) == (event.old_properties, event.properties)
        if "Update" == event.request_type == other.request_type and is_undone:
            is_elsewhere = other.physical_id not in (event.physical_id, name)
            return other.physical_id if is_elsewhere and not _is_deletion_requested(other.physical_id, others) else ""
    return ""


def _is_deletion_requested(name: str, others: list[Event]) -> bool:
    return any(other.request_type == "Delete" and other.physical_id == name for other in others)


def _is_reclaiming(event: Event, others: list[Event]) -> bool:
    """Return whether an Update returns to a cluster whose deletion was requested before, and failed."""
    name = cluster_name(event, event.properties)
    return event.request_type == "Update" and name != event.physical_id and _is_deletion_requested(name, others)


def _is_undo(event: Event, others: list[tuple[Execution, Event]], executions: Executions) -> bool:
    """Return whether a rollout is an undo (docs/internals/custom-resource.md, Running nodes)."""
    if not others or event.request_type != "Update":
        return False
    execution, previous = others[0]
    bundles, before = _bundles(event), _bundles(previous)
    if previous.request_type != "Update" or bundles[0] == bundles[1] or bundles not in (before, before[::-1]):
        return False
    was_undo = bool(executions.input_of(execution.arn)["memory"].get("undo"))
    if bundles == before or not was_undo:
        return was_undo == (bundles == before)
    first = next((other for other, its in others[1:] if its.request_type == "Update" and _bundles(its) == bundles), None)
    return first is not None and _has_applied(first, executions)


def _has_applied(execution: Execution, executions: Executions) -> bool:
    """Return whether a rollout reached all nodes; with `warn` it may have stopped and succeeded."""
    response = executions.response(execution.arn) or {}
    return response.get("Status") == "SUCCESS" and not (response.get("Data") or {}).get("Rollout", "").startswith(STOPPED)


def _bundles(event: Event) -> tuple[Bundle, Bundle]:
    return Bundle.of(event.old_properties or {}), Bundle.of(event.properties)


def _leftovers(event: Event, others: list[tuple[Execution, Event]], executions: Executions) -> tuple[str, ...]:
    """Return clusters that replacements created without CloudFormation getting their names.

    A later Update that still names the old cluster shows this. A Delete that names it can also be the clean-up after the
    replacement, so there the response decides. A cluster is known if a request that is not surely older names it.
    """
    found = []
    for execution, made in others:
        name = created_name(made, made.properties)
        if made.request_type != "Update" or name in ("", made.physical_id):
            continue
        after = [its for _, its in others if is_later(its.issued, made.issued)]
        rivals = [*after, *(its for other, its in others if other.started >= execution.started and its is not made)]
        unordered = [its for other, its in others if other.started > execution.started and not is_later(made.issued, its.issued)]
        if any(name in _names(its) for its in (event, *rivals)):
            continue
        later = [its for its in (event, *after, *unordered) if its.physical_id == made.physical_id]
        is_unreported = any(its.request_type == "Update" for its in later) or (
            event in later and is_later(event.issued, made.issued) and _has_failed(execution, executions)
        )
        if is_unreported:
            found.append(name)
    return tuple(found)


def _names(event: Event) -> tuple[str, ...]:
    """Return the clusters of a request; a Delete's properties count only if CloudFormation generated the ID."""
    if event.request_type == "Delete" and not event.has_generated_id:
        return (event.physical_id,)
    return (event.physical_id, cluster_name(event, event.properties))


def _has_failed(execution: Execution, executions: Executions) -> bool:
    """Return whether an execution ended without SUCCESS; without a response, the responder sends FAILED."""
    return not execution.is_running and (executions.response(execution.arn) or {}).get("Status") != "SUCCESS"
