"""Send the response for requests whose execution or entry function failed. Runs in Lambda as the responder.

docs/internals/custom-resource.md says when it runs.
"""

import json
import os

from botocore.exceptions import ClientError

from cluster_resource.aws_api import Kind, kind_of
from cluster_resource.decision import Memory
from cluster_resource.entry import stop_older
from cluster_resource.event import Event, Json, physical_id
from cluster_resource.executions import SUPERSEDED, Executions, executions_of
from cluster_resource.log import log
from cluster_resource.response import Send, failure, send


def handler(raw: Json, _context: object) -> None:
    """Respond for an execution, or for an event without one."""
    respond(raw, executions_of(os.environ["STATE_MACHINE_ARN"]), send)


def respond(raw: Json, executions: Executions, send: Send) -> None:
    """Send the response that the execution had decided on, else FAILED with the known reason."""
    if "requestPayload" in raw:
        _for_entry(raw, executions, send)
    else:
        _for_execution(raw["detail"], executions, send)


def _for_execution(detail: Json, executions: Executions, send: Send) -> None:
    arn = detail["executionArn"]
    if not detail.get("input"):  # EventBridge leaves out what a customer managed key encrypts
        detail = {**detail, **executions.described(arn)}
    event = Event.parse(json.loads(detail["input"])["event"])
    response = executions.response(arn)
    log("execution ended", execution=arn, status=detail["status"], error=detail.get("error"), had_response=bool(response))
    send(event, response or failure(physical_id(event), _reason(detail)))


def _reason(detail: Json) -> str:
    cause = detail.get("cause") or "no cause given"
    if detail.get("error") == SUPERSEDED:
        return str(cause)
    name = detail.get("name") or detail["executionArn"].rsplit(":", 1)[-1]
    error = f"{detail.get('error') or 'no error given'}: {cause}"
    return (
        f"the state machine execution ended as {detail['status']}: {error}; see execution {name} and the log of the step "
        "function; deploy or delete again to continue with the existing cluster"
    )


def _for_entry(record: Json, executions: Executions, send: Send) -> None:
    """Let the request's execution respond, or start one that only responds: of two starts with its name, one is refused."""
    event = Event.parse(record["requestPayload"])
    error = record.get("responsePayload") or {}
    condition = record.get("requestContext", {}).get("condition", "failure")
    cause = f"{error.get('errorType', condition)}: {error.get('errorMessage', 'see its log')}"
    reason = f"the entry function failed to start the request: {cause}"
    try:
        started, _ = executions.start(event, record["requestPayload"], Memory(fence=reason))
    except ClientError as refused:
        if _may_exist(refused):
            raise
        # An earlier delivery may have started the execution, which then responds.
        if executions.find(event) is None:
            log("no execution can be started", error=str(refused))
            send(event, failure(physical_id(event), reason))
        return
    stop_older(event, started, executions)


def _may_exist(refused: ClientError) -> bool:
    """Return whether the execution may exist despite the error, so that only a retry can show it."""
    error, status = refused.response["Error"], refused.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    kind = kind_of(refused.operation_name, error["Code"], status, error.get("Message", ""))
    return kind in (Kind.TRANSIENT, Kind.BUSY) or refused.operation_name != "StartExecution"
