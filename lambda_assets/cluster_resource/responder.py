"""Runs in Lambda as the responder: the answer of last resort, for whatever died on the way.

EventBridge sends it the executions that failed, timed out or were stopped; Lambda sends it the events for which the entry
function failed. Its role may start, stop and describe executions and read their history. It makes no cluster call.
"""

import functools
import json
import os

from botocore.exceptions import ClientError

from cluster_resource.aws_api import Kind, kind_of, states_client
from cluster_resource.decision import VERSION
from cluster_resource.entry import stop_older
from cluster_resource.event import Event, Json, physical_id
from cluster_resource.executions import SUPERSEDED, Executions
from cluster_resource.log import log
from cluster_resource.response import Send, failure, send


@functools.cache
def _executions() -> Executions:
    """The state machine's executions, made once per sandbox."""
    return Executions(states_client(), os.environ["STATE_MACHINE_ARN"])


def handler(raw: Json, _context: object) -> None:
    """Answer for an execution that ended badly, or for an event that never got one."""
    respond(raw, _executions(), send)


def respond(raw: Json, executions: Executions, send: Send) -> None:
    """Send the verdict that the execution had reached, else FAILED with what is known."""
    if "requestPayload" in raw:
        _for_entry(raw, executions, send)
    else:
        _for_execution(raw["detail"], executions, send)


def _for_execution(detail: Json, executions: Executions, send: Send) -> None:
    arn = detail["executionArn"]
    given = detail.get("input")
    event = Event.parse(json.loads(given)["event"] if given else executions.event_of(arn))
    response = executions.response(arn)
    log("execution ended", execution=arn, status=detail["status"], error=detail.get("error"), had_verdict=bool(response))
    send(event, response or failure(physical_id(event), _reason(detail)))


def _reason(detail: Json) -> str:
    """What became of the execution, in words."""
    cause = detail.get("cause") or "no cause given"
    if detail.get("error") == SUPERSEDED:
        return str(cause)
    name = detail.get("name") or detail["executionArn"].rsplit(":", 1)[-1]
    said = f"{detail.get('error') or 'no error given'}: {cause}"
    return (
        f"the state machine that works on the cluster ended as {detail['status']}: {said}; see execution {name} and the step "
        "function's log; deploy or delete again: it goes on with the cluster that is there"
    )


def _for_entry(record: Json, executions: Executions, send: Send) -> None:
    """The entry function failed for good: the request's execution answers.

    Where none is seen, one is started that only says so. Its name is taken then: should a start of the entry's still be on its
    way, one of the two is refused, and there is one response.
    """
    event = Event.parse(record["requestPayload"])
    error = record.get("responsePayload") or {}
    condition = record.get("requestContext", {}).get("condition", "failure")
    said = f"{error.get('errorType', condition)}: {error.get('errorMessage', 'see its log')}"
    reason = f"the entry function could not start the work: {said}"
    memory = {"version": VERSION, "fence": reason}
    try:
        started, _ = executions.start(event, {"version": VERSION, "event": record["requestPayload"], "memory": memory})
    except ClientError as refused:
        if _may_exist(refused):
            raise
        # An event is delivered at least once: an earlier delivery may have started the execution, which then answers.
        if executions.find(event) is None:
            log("no execution can be started", error=str(refused))
            send(event, failure(physical_id(event), reason))
        return
    stop_older(event, started, executions)


def _may_exist(refused: ClientError) -> bool:
    """Whether there may be an execution all the same, so that only another try can tell."""
    error, status = refused.response["Error"], refused.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    kind = kind_of(refused.operation_name, error["Code"], status, error.get("Message", ""))
    return kind in (Kind.TRANSIENT, Kind.BUSY) or refused.operation_name != "StartExecution"
