"""The state machine in memory, on a manual clock: Step, Wait of 30 seconds, Respond; with the interface of a boto3 client."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.unit.cluster_resource.manual_clock import ManualClock

Json = dict[str, Any]
MACHINE = "arn:aws:states:us-west-2:123456789012:stateMachine:Cluster"
WAIT_S = 30
TIMEOUT_S = 59 * 60
ATTEMPTS = 3


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


class FakeStates:
    """Step Functions with our one state machine. ``invoke`` is the step function, ``on_end`` gets what EventBridge would send."""

    exceptions = FakeExceptions()

    def __init__(self, clock: ManualClock, invoke: Callable[[Json], Json], on_end: Callable[[Json], None]) -> None:
        self._clock = clock
        self._invoke = invoke
        self._on_end = on_end
        self.executions: dict[str, FakeExecution] = {}

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> Json:  # noqa: N803 (the service's own name)
        assert stateMachineArn == MACHINE
        found = self.executions.get(name)
        if found and (found.status != "RUNNING" or found.input != input):
            raise ExecutionAlreadyExists(name)
        if found is None:
            found = FakeExecution(name, input, self._clock.now, self._clock.now, json.loads(input))
            self.executions[name] = found
        return {"executionArn": found.arn, "startDate": found.started}

    def list_executions(self, *, stateMachineArn: str, maxResults: int) -> Json:  # noqa: N803 (the service's own names)
        assert stateMachineArn == MACHINE
        assert maxResults <= 1000
        newest = sorted(self.executions.values(), key=lambda execution: execution.started, reverse=True)
        return {"executions": [self._summary(execution) for execution in newest[:maxResults]]}

    def describe_execution(self, *, executionArn: str) -> Json:  # noqa: N803 (the service's own name)
        found = self._find(executionArn)
        ended = {name: text for name, text in (("error", found.error), ("cause", found.cause)) if text}
        return {**self._summary(found), "input": found.input, **ended}

    def stop_execution(self, *, executionArn: str, error: str, cause: str) -> Json:  # noqa: N803 (the service's own name)
        self.end(self._find(executionArn), "ABORTED", error, cause)
        return {}

    def get_execution_history(
        self,
        *,
        executionArn: str,  # noqa: N803 (the service's own names)
        reverseOrder: bool,  # noqa: N803
        includeExecutionData: bool,  # noqa: N803
        maxResults: int,  # noqa: N803
    ) -> Json:
        assert reverseOrder
        assert includeExecutionData
        assert maxResults <= 1000
        return {"events": list(reversed(self._find(executionArn).history))}

    def next_due(self) -> datetime | None:
        """When the next running execution has something to do."""
        due = [execution.due for execution in self.executions.values() if execution.status == "RUNNING"]
        return min(due, default=None)

    def run_due(self) -> None:
        """Let every running execution do what is due."""
        for execution in list(self.executions.values()):
            if execution.status == "RUNNING" and execution.due <= self._clock.now:
                self._work(execution)

    def _work(self, execution: FakeExecution) -> None:
        if (self._clock.now - execution.started).total_seconds() >= TIMEOUT_S:
            self.end(execution, "TIMED_OUT", "States.Timeout", "")
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
        execution.history.append({"stateExitedEventDetails": {"name": "Step", "output": json.dumps(result)}})
        execution.state = {"event": execution.state["event"], "memory": result["memory"], "response": result["response"]}
        execution.due = self._clock.after(0 if result["done"] else WAIT_S)

    def _call(self, payload: Json) -> Json:
        """Invoke the function, with JSON on both sides as in Lambda."""
        result: Json = json.loads(json.dumps(self._invoke(json.loads(json.dumps(payload)))))
        return result

    def end(self, execution: FakeExecution, status: str, error: str, cause: str) -> None:
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
