"""List, start, stop and read the executions of the state machine."""

import functools
import json
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.aws_api import client_of
from cluster_resource.decision import VERSION, Memory
from cluster_resource.event import NO_DATE, Event, Json, execution_name, is_later, resource_hash

PAGE = 1000
SUPERSEDED = "Superseded"
"""The error of an execution that a newer request stopped."""

LISTED_S = 30
"""How long ListExecutions may not show an execution that has begun; docs/adr/0007 has the bounds."""
FUNCTION_S = 60
"""How long a function runs at most."""
LANDS_S = 150
"""How long a call can take effect after its function ended."""
LEASE_S = LISTED_S + FUNCTION_S + LANDS_S
"""How long after an execution began a call of an older execution can take effect."""


class Execution(NamedTuple):
    """The execution of one request."""

    arn: str
    name: str
    status: str
    started: datetime
    stopped: datetime | None

    @property
    def is_running(self) -> bool:
        """Return whether it still works on its request."""
        return self.status == "RUNNING"

    @property
    def issued(self) -> str:
        """Return when CloudFormation signed the request, as in ``Event.issued``."""
        issued = self.name.split("-")[1]
        return "" if issued == NO_DATE else issued

    def may_still_call(self, now: datetime) -> bool:
        """Return whether a call of its steps can take effect after ``now``: it runs, or was stopped during a recent step."""
        if self.stopped is None:
            return True
        has_called = (self.stopped - self.started).total_seconds() >= LISTED_S
        return self.status != "SUCCEEDED" and has_called and (now - self.stopped).total_seconds() < FUNCTION_S + LANDS_S

    def is_newer_than(self, event: Event, started: datetime) -> bool:
        """Return whether its request is newer than ``event``; within one second, the later execution counts as newer."""
        if is_later(self.issued, event.issued) or is_later(event.issued, self.issued):
            return is_later(self.issued, event.issued)
        return self.started > started


class Executions:
    """The executions of one state machine."""

    def __init__(self, client: Any, state_machine_arn: str) -> None:
        self._client = client
        self._state_machine_arn = state_machine_arn

    def of_resource(self, event: Event) -> list[Execution]:
        """Return the executions for the event's resource, newest first, among the state machine's newest thousand."""
        page = self._client.list_executions(stateMachineArn=self._state_machine_arn, maxResults=PAGE)
        prefix = resource_hash(event) + "-"
        return [_execution(item) for item in page["executions"] if item["name"].startswith(prefix)]

    def others(self, event: Event) -> list[Execution]:
        """Return the executions of the resource's other requests, newest first."""
        own = execution_name(event)
        return [execution for execution in self.of_resource(event) if execution.name != own]

    def newer(self, event: Event, started: datetime) -> Execution | None:
        """Return the execution of a newer request, if listed."""
        return next((other for other in self.others(event) if other.is_newer_than(event, started)), None)

    def is_contested(self, event: Event, started: datetime, now: datetime) -> bool:
        """Return whether a call of an older request can take effect after ``now``, which is after ``LISTED_S``."""
        older = (other for other in self.others(event) if not other.is_newer_than(event, started))
        return any(other.may_still_call(now) for other in older)

    def start(self, event: Event, raw: Json, memory: Memory) -> tuple[datetime, bool]:
        """Start the request's execution, or find it; return its start, and whether it is new."""
        try:
            reply = self._client.start_execution(
                stateMachineArn=self._state_machine_arn,
                name=execution_name(event),
                input=json.dumps({"version": VERSION, "event": raw, "memory": memory.dump()}, separators=(",", ":")),
            )
        except self._client.exceptions.ExecutionAlreadyExists:
            found = self.find(event)
            if found is None:
                raise LookupError(f"execution {execution_name(event)} exists but is not listed yet") from None
            return found.started, False
        return reply["startDate"], True

    def find(self, event: Event) -> Execution | None:
        """Return the request's execution."""
        arn = self.arn_of(event)
        try:
            found = self._client.describe_execution(executionArn=arn)
        except self._client.exceptions.ExecutionDoesNotExist:
            return None
        return _execution(found)

    def arn_of(self, event: Event) -> str:
        """Return the ARN of the request's execution, which may not exist."""
        return self._state_machine_arn.replace(":stateMachine:", ":execution:") + ":" + execution_name(event)

    def described(self, arn: str) -> Json:
        """Return what an execution got and why it ended: `input`, `error` and `cause`, if any."""
        found = self._client.describe_execution(executionArn=arn)
        return {name: found[name] for name in ("input", "error", "cause") if found.get(name)}

    def input_of(self, arn: str) -> Json:
        """Return the input of an execution: its event, and its memory at the start."""
        found: Json = json.loads(self.described(arn)["input"])
        return found

    def stop(self, arn: str, cause: str) -> None:
        """Stop an execution for a newer request; no effect after its end."""
        self._client.stop_execution(executionArn=arn, error=SUPERSEDED, cause=cause)

    def response(self, arn: str) -> Json | None:
        """Return the response that the execution decided on before it ended."""
        token: Json = {}
        while True:
            page = self._client.get_execution_history(
                executionArn=arn, reverseOrder=True, includeExecutionData=True, maxResults=PAGE, **token
            )
            for item in page["events"]:
                found = _response_in(item)
                if found:
                    return found
            if not page.get("nextToken"):
                return None
            token = {"nextToken": page["nextToken"]}


def _execution(item: Json) -> Execution:
    return Execution(item["executionArn"], item["name"], item["status"], item["startDate"], item.get("stopDate"))


def _response_in(value: Any) -> Json | None:
    """Return the first response in a history event; its inputs and outputs are JSON texts."""
    if isinstance(value, str) and '"response"' in value:
        try:
            return _response_in(json.loads(value))
        except ValueError:
            return None
    if isinstance(value, dict):
        response = value.get("response")
        if isinstance(response, dict) and "Status" in response:
            return response
        return next((found for item in value.values() if (found := _response_in(item))), None)
    return None


@functools.cache
def executions_of(state_machine_arn: str) -> Executions:
    """Return the state machine's executions, once per sandbox."""
    return Executions(client_of("stepfunctions"), state_machine_arn)
