"""The state machine in memory, on a manual clock: Step, Wait of 30 seconds, Respond; with the interface of a boto3 client."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import botocore.session
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters

from tests.unit.cluster_resource.manual_clock import ManualClock

Json = dict[str, Any]
MACHINE = "arn:aws:states:us-west-2:123456789012:stateMachine:Cluster"
WAIT_S = 30
TIMEOUT_S = 59 * 60
ATTEMPTS = 3
PAGE = 1000
SERVICE_MODEL = botocore.session.get_session().get_service_model("stepfunctions")


class FunctionDied(BaseException):
    """The function's sandbox died."""


class ExecutionAlreadyExists(Exception):  # noqa: N818 (the service's own name)
    """There is an execution of that name, with another input or ended."""


class ExecutionDoesNotExist(Exception):  # noqa: N818 (the service's own name)
    """There is no such execution."""


class FakeExceptions:
    """The modelled exceptions, as a client carries them."""

    ExecutionAlreadyExists = ExecutionAlreadyExists
    ExecutionDoesNotExist = ExecutionDoesNotExist


@dataclass
class FakeExecution:
    """One execution and its state."""

    name: str
    input: str
    started: datetime
    due: datetime
    state: Json = field(default_factory=dict)
    status: str = "RUNNING"
    stopped: datetime | None = None
    steps: int = 0
    history: list[Json] = field(default_factory=list)
    error: str = ""
    cause: str = ""

    @property
    def arn(self) -> str:
        return f"{MACHINE.replace(':stateMachine:', ':execution:')}:{self.name}"

    def note(self, kind: str, **details: Json) -> None:
        """Append an event to the history."""
        self.history.append({"id": len(self.history) + 1, "type": kind, **details})


class FakeStates:
    """Step Functions with our one state machine. ``invoke`` is the step function, ``on_end`` gets what EventBridge would send."""

    exceptions = FakeExceptions()

    def __init__(self, clock: ManualClock, invoke: Callable[[Json], Json], on_end: Callable[[Json], None]) -> None:
        self._clock = clock
        self._invoke = invoke
        self._on_end = on_end
        self.executions: dict[str, FakeExecution] = {}

    def start_execution(self, **request: Any) -> Json:
        asked = self._asked("StartExecution", request)
        name, given = asked["name"], asked["input"]
        found = self.executions.get(name)
        if found and (found.status != "RUNNING" or found.input != given):
            raise ExecutionAlreadyExists(name)
        if found is None:
            found = FakeExecution(name, given, self._clock.now, self._clock.now, json.loads(given))
            found.note("ExecutionStarted", executionStartedEventDetails={"input": given})
            self.executions[name] = found
        return {"executionArn": found.arn, "startDate": found.started}

    def list_executions(self, **request: Any) -> Json:
        asked = self._asked("ListExecutions", request)
        newest = sorted(self.executions.values(), key=lambda execution: execution.started, reverse=True)
        return _page("executions", [self._summary(execution) for execution in newest], asked)

    def describe_execution(self, **request: Any) -> Json:
        found = self._find(self._asked("DescribeExecution", request)["executionArn"])
        ended = {name: text for name, text in (("error", found.error), ("cause", found.cause)) if text}
        return {**self._summary(found), "input": found.input, **ended}

    def stop_execution(self, **request: Any) -> Json:
        asked = self._asked("StopExecution", request)
        self.end(self._find(asked["executionArn"]), "ABORTED", asked.get("error", ""), asked.get("cause", ""))
        return {}

    def get_execution_history(self, **request: Any) -> Json:
        asked = self._asked("GetExecutionHistory", request)
        events = self._find(asked["executionArn"]).history
        if not asked.get("includeExecutionData", True):
            events = [_without_data(event) for event in events]
        return _page("events", events[::-1] if asked.get("reverseOrder") else events, asked)

    @staticmethod
    def _asked(operation: str, request: Json) -> Json:
        """Return a request to our state machine; raise what a boto3 client or the service does if it does not fit its model."""
        validate_parameters(request, SERVICE_MODEL.operation_model(operation).input_shape)
        if request.get("maxResults", 0) > PAGE:
            raise ClientError({"Error": {"Code": "ValidationException", "Message": "maxResults"}}, operation)
        assert request.get("stateMachineArn", MACHINE) == MACHINE
        return request

    def next_due(self) -> datetime | None:
        """When the next running execution has something to do."""
        due = [execution.due for execution in self.executions.values() if execution.status == "RUNNING"]
        return min(due, default=None)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, step by step."""
        end = self._clock.after(seconds)
        while (due := self.next_due()) is not None and due <= end:
            self._clock.now = max(self._clock.now, due)
            self.run_due()
        self._clock.now = max(self._clock.now, end)

    def run_due(self) -> None:
        """Let every running execution do what is due."""
        for execution in list(self.executions.values()):
            if execution.status == "RUNNING" and execution.due <= self._clock.now:
                self._work(execution)

    def _work(self, execution: FakeExecution) -> None:
        if (self._clock.now - execution.started).total_seconds() >= TIMEOUT_S:
            self.end(execution, "TIMED_OUT")
            return
        for attempt in range(ATTEMPTS):
            try:
                self._transit(execution)
            except (Exception, FunctionDied) as error:  # noqa: BLE001 (whatever the function raises is the machine's to retry)
                if attempt == ATTEMPTS - 1:
                    self.end(execution, "FAILED", type(error).__name__, str(error))
            else:
                return

    def _transit(self, execution: FakeExecution) -> None:
        result = self._call(self.task(execution))
        self.store(execution, result)
        if result.get("response") and execution.status == "RUNNING":
            self._transit(execution)

    def task(self, execution: FakeExecution) -> Json:
        """What the function is invoked with: a step's input, or the answer to send."""
        event = execution.state["event"]
        if execution.state.get("response"):
            return {"event": event, "response": execution.state["response"]}
        times = {"now": self._clock.now.isoformat(), "started": execution.started.isoformat()}
        return {"event": event, "memory": execution.state["memory"], **times}

    def store(self, execution: FakeExecution, result: Json) -> None:
        """Go on with what the function gave."""
        if execution.state.get("response"):
            execution.status, execution.stopped = "SUCCEEDED", self._clock.now
            return
        execution.steps += 1
        execution.note("TaskStateExited", stateExitedEventDetails={"name": "Step", "output": json.dumps(result)})
        execution.state = {"event": execution.state["event"], "memory": result["memory"], "response": result["response"]}
        execution.due = self._clock.after(0 if result["done"] else WAIT_S)

    def _call(self, payload: Json) -> Json:
        """Invoke the function, with JSON on both sides as in Lambda."""
        result: Json = json.loads(json.dumps(self._invoke(json.loads(json.dumps(payload)))))
        return result

    def end(self, execution: FakeExecution, status: str, error: str = "", cause: str = "") -> None:
        """End an execution that still runs, and tell EventBridge."""
        if execution.status != "RUNNING":
            return
        execution.status, execution.stopped = status, self._clock.now
        execution.error, execution.cause = error, cause
        told = {"executionArn": execution.arn, "name": execution.name, "status": status}
        # As AWS documents for a customer managed key.
        self._on_end({"source": "aws.states", "detail": {**told, "input": None, "error": None, "cause": None}})

    def _find(self, arn: str) -> FakeExecution:
        name = arn.rsplit(":", 1)[-1]
        if name not in self.executions:
            raise ExecutionDoesNotExist(arn)
        return self.executions[name]

    def _summary(self, execution: FakeExecution) -> Json:
        told = {"executionArn": execution.arn, "name": execution.name}
        ended = {"stopDate": execution.stopped} if execution.stopped else {}
        return {**told, "status": execution.status, "startDate": execution.started, **ended}


def _page(name: str, items: list[Json], request: Json) -> Json:
    """Return the page that a request asks for, and a token if there are more items."""
    start = int(request.get("nextToken", 0))
    end = start + request.get("maxResults", PAGE)
    more = {"nextToken": str(end)} if end < len(items) else {}
    return {name: items[start:end], **more}


def _without_data(event: Json) -> Json:
    """Return an event of a history whose details have no input and output."""
    return {
        name: {key: item for key, item in value.items() if key not in ("input", "output")} if isinstance(value, dict) else value
        for name, value in event.items()
    }
