"""Keep an older request from changing anything after a newer one (docs/adr/0007-executions-as-memory.md)."""

from collections.abc import Callable

from cluster_resource.aws_api import ApiError, api_errors
from cluster_resource.deadline import Clock
from cluster_resource.decision import Decision, Fail, Memory, Wait
from cluster_resource.deletion import is_quiet
from cluster_resource.event import Event
from cluster_resource.executions import LISTED_S, Execution, Executions
from cluster_resource.log import log


def enter(event: Event, memory: Memory, clock: Clock, executions: Callable[[], Executions]) -> Decision | Memory:
    """Return the memory if the request may work, else the decision to wait or fail."""
    if clock.elapsed_s < LISTED_S:
        return Decision(Wait("waiting until Step Functions lists every request"), memory)
    memory = _with_older_requests(event, memory, clock, executions)
    return Decision(Fail(memory.fence), memory) if memory.fence else memory


def _with_older_requests(event: Event, memory: Memory, clock: Clock, executions: Callable[[], Executions]) -> Memory:
    """Find out whether the request is contested; after an error it stays unknown until the next step."""
    if memory.contested is not None:
        return memory
    try:
        with api_errors("ListExecutions"):
            return memory._replace(contested=executions().is_contested(event, clock.started, clock.now))
    except ApiError as error:
        log("older requests cannot be listed", error=str(error))
        return memory


def newer_request(event: Event, clock: Clock, executions: Executions) -> Execution | None:
    """Return the execution of a newer request for the resource; look before each call that changes something."""
    with api_errors("ListExecutions"):
        return executions.newer(event, clock.started)


def superseded(newer: Execution, memory: Memory) -> Decision:
    """Fail for a newer request."""
    return Decision(Fail(f"superseded by a newer request for the same resource ({newer.name})"), memory)


def fail_when_quiet(decision: Decision, clock: Clock) -> Decision:
    """Return the decision, or a wait before FAILED, on which CloudFormation acts too."""
    if not isinstance(decision.action, Fail) or is_quiet(decision.memory, clock):
        return decision
    return Decision(
        Wait(f"waiting until no older request can make calls, then failing: {decision.action.reason}"), decision.memory
    )
