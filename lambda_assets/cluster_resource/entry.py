"""Runs in Lambda as the entry function: CloudFormation invokes it, and it starts the request's execution.

Its role may list, describe, start and stop the executions of the one state machine. It makes no cluster call and sends no answer:
an error here goes, by way of the on-failure destination, to the responder.

The newest request for a resource wins. Order is the order in which CloudFormation signed the response addresses, as deliveries
can overtake each other; where the addresses do not tell, it is the order in which the executions began.
"""

import functools
import os
from datetime import datetime

from cluster_resource.api_client import states_client
from cluster_resource.event import Event, Json, is_later
from cluster_resource.executions import Execution, Executions
from cluster_resource.identity import execution_name
from cluster_resource.log import log
from cluster_resource.memory import VERSION

COMPARED = 10
"""How many earlier executions of a resource are asked for their event; older ones ended long before a delivery can be late."""


@functools.cache
def _executions() -> Executions:
    """The state machine's executions, made once per sandbox."""
    return Executions(states_client(), os.environ["STATE_MACHINE_ARN"])


def handler(raw: Json, _context: object) -> None:
    """Start the execution for one event of CloudFormation's."""
    launch(raw, _executions())


def launch(raw: Json, executions: Executions) -> None:
    """Start the request's execution and stop those of older requests; a duplicate does nothing that was not done."""
    event = Event.parse(raw)
    others = _others(event, executions)
    newer = next((other for other, issued in others if is_later(issued, event.issued)), None)
    memory: Json = {"version": VERSION}
    if newer:
        memory["fence"] = f"superseded: this request came after a newer one for the same resource ({newer.name})"
    elif others and others[0][0].status != "SUCCEEDED":
        # It still runs, or ended in the middle of a step, whose last call nobody knows the outcome of.
        memory["contested"] = True
    started = executions.start(event, {"version": VERSION, "event": raw, "memory": memory})
    log("started", request=f"{event.request_type} {event.logical_id}", execution=execution_name(event), fenced=bool(newer))
    if not newer:
        stop_older(event, started, executions)


def stop_older(event: Event, started: datetime, executions: Executions) -> None:
    """Stop what still runs for older requests; the responder answers for each that it is superseded."""
    for other, issued in _others(event, executions):
        if not other.is_running or _is_newer(issued, other.started, event.issued, started):
            continue
        executions.stop(other, f"superseded by a newer request for the same resource ({execution_name(event)})")
        log("stopped", execution=other.name, by=execution_name(event))


def _others(event: Event, executions: Executions) -> list[tuple[Execution, str]]:
    """The other executions of the resource, newest first, each with when its event was issued."""
    own = execution_name(event)
    found = [execution for execution in executions.of_resource(event) if execution.name != own][:COMPARED]
    return [(execution, Event.parse(executions.event_of(execution.arn)).issued) for execution in found]


def _is_newer(issued: str, started: datetime, own_issued: str, own_started: datetime) -> bool:
    if is_later(issued, own_issued) or is_later(own_issued, issued):
        return is_later(issued, own_issued)
    return started > own_started
