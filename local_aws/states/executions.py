"""Executions: started with unique names, stopped at once, and reported to EventBridge."""

import json
import threading
import uuid
from typing import Any

from moto.core.responses import ActionResult
from moto.stepfunctions.parser.api import ExecutionStatus
from moto.stepfunctions.parser.asl.eval.program_state import ProgramStopped
from moto.stepfunctions.parser.asl.utils.encoding import to_json_str
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication, Execution
from moto.stepfunctions.parser.models import StepFunctionsParserBackend, stepfunctions_parser_backends
from moto.stepfunctions.responses import StepFunctionResponse

from local_aws import events, limits
from local_aws.clock import clock
from local_aws.errors import AwsError
from local_aws.states import logs
from local_aws.states.encryption import key_of

_start_execution = StepFunctionsParserBackend.start_execution
_terminated = BaseExecutionWorkerCommunication.terminated
_init = Execution.__init__
_start = Execution.start
_start_details = Execution.get_start_execution_details
_describe = StepFunctionResponse.describe_execution
_list = StepFunctionResponse.list_executions
_get_history = StepFunctionResponse.get_execution_history
_HISTORY = ("states:GetExecutionHistory", "maxResults")
_DATA = ("input", "inputDetails", "output", "outputDetails")

_PROMPTLY_S = 5.0  # host seconds until a stopped execution's thread must notice
_starting = threading.Lock()


def _start_named(self: Any, state_machine_arn: str, name: Any = None, execution_input: Any = None, *rest: Any) -> Any:
    """Start an execution; without a name it gets a unique one (moto names them all "None")."""
    limits.require("states:StartExecution", "input", len((execution_input or "").encode()))
    if name:
        self._validate_name(name)
    with _starting:  # two concurrent requests with the same name are one execution
        return _start_execution(self, state_machine_arn, name or str(uuid.uuid4()), execution_input, *rest)


def _new_execution(self: Any, *positional: Any, **named: Any) -> None:
    """Create an execution that logs to its machine's log group and reports its end."""
    _init(self, *positional, **named)
    self.over = threading.Event()
    self._cloud_watch_logging_session = logs.session(self.exec_arn, self.state_machine)


def _details(self: Any) -> Any:
    """Return the execution's details for the context; its start as text, because moto's datetime is not JSON."""
    details = _start_details(self)
    details.start_time = self.start_date.isoformat()
    return details


def _start_heard(self: Any) -> None:
    """Publish the RUNNING event and start: a short execution may end before its start returns."""
    self.exec_status = ExecutionStatus.RUNNING
    _publish(self)
    _start(self)


def _stop(self: Any, stop_date: Any, error: str | None, cause: str | None) -> None:
    """Stop it, even if its thread has not begun yet."""
    while self.exec_worker.env is None or self.exec_worker.env.program_state() is None:
        threading.Event().wait(0.001)  # the thread was started a moment ago
    self.exec_worker.stop(stop_date=stop_date or clock.now(), error=error, cause=cause)


def _ended(self: Any) -> None:
    """Record the end, with the error and cause of a stop, and publish it."""
    _terminated(self)
    state = self.execution.exec_worker.env.program_state()
    if isinstance(state, ProgramStopped):
        self.execution.error, self.execution.cause = state.error, state.cause
    self.execution.over.set()
    _publish(self.execution)


def _stop_answered(self: Any) -> ActionResult:
    """Return StopExecution's response once the execution has ended, with its error and cause."""
    execution = self.stepfunction_backend.describe_execution(self._get_param("executionArn"))
    execution.stop(None, self._get_param("error"), self._get_param("cause"))
    if not execution.over.wait(_PROMPTLY_S):
        raise AwsError("ServiceUnavailable", f"{execution.exec_arn} did not stop in time", 503)
    return ActionResult({"stopDate": execution.stop_date})


def _described(self: Any) -> ActionResult:
    """Return DescribeExecution's response, with the end of a timed-out execution, which moto omits."""
    answer = _describe(self)
    return ActionResult(_with_end(answer.result, self.stepfunction_backend))


def _listed(self: Any) -> ActionResult:
    """Return ListExecutions' response, with the ends of timed-out executions."""
    limits.require("states:ListExecutions", "maxResults", self._get_int_param("maxResults") or 0)
    answer = _list(self).result
    return ActionResult({**answer, "executions": [_with_end(each, self.stepfunction_backend) for each in answer["executions"]]})


def _with_end(item: dict[str, Any], backend: Any) -> dict[str, Any]:
    if item["status"] != "TIMED_OUT":
        return item
    return {**item, "stopDate": backend.describe_execution(item["executionArn"]).stop_date}


def _history(self: Any) -> ActionResult:
    """Return GetExecutionHistory's response in the order, pages and detail of the request; moto ignores all three."""
    most = self._get_int_param("maxResults") or limits.LIMITS[_HISTORY]
    limits.require(*_HISTORY, most)
    found = list(_get_history(self).result["events"])[:: -1 if self._get_bool_param("reverseOrder", False) else 1]
    if not self._get_bool_param("includeExecutionData", True):
        found = [_without_data(event) for event in found]
    token = self._get_param("nextToken") or "0"
    if not token.isdecimal():
        raise AwsError("InvalidToken", f"Invalid Token: '{token}'")
    end = int(token) + most
    return ActionResult({"events": found[int(token) : end], **({"nextToken": str(end)} if end < len(found) else {})})


def _without_data(event: Any) -> Any:
    """Return an event without inputs and outputs, which are members of its details."""
    if not isinstance(event, dict):
        return event
    return {name: _without_data(value) for name, value in event.items() if name not in _DATA}


def _publish(execution: Any) -> None:
    """Publish the execution's status to EventBridge."""
    ended = execution.stop_date
    detail = {
        "executionArn": execution.exec_arn,
        "stateMachineArn": execution.state_machine.arn,
        "name": execution.name,
        "status": execution.status,
        "startDate": _milliseconds(execution.start_date),
        "stopDate": _milliseconds(ended) if ended else None,
        **_data(execution),
    }
    events.publish(
        execution.account_id,
        execution.region_name,
        source="aws.states",
        detail_type="Step Functions Execution Status Change",
        detail=detail,
        resources=[execution.exec_arn],
    )


def _data(execution: Any) -> dict[str, Any]:
    """Return the event's data: none with a customer managed key, and what is small enough without."""
    given = execution.execution_input
    output = to_json_str(execution.output, separators=(",", ":")) if execution.status == "SUCCEEDED" else None
    if key_of(execution.state_machine):
        none = dict.fromkeys(("input", "output", "outputDetails", "error", "cause"))
        return {**none, "inputDetails": {"included": False}}
    has_output = output is not None and not _is_too_large(output)
    has_input = not _is_too_large(given, output if has_output else None)
    return {
        "input": given if has_input else None,
        "inputDetails": {"included": has_input},
        "output": output if has_output else None,
        "outputDetails": {"included": has_output} if output is not None else None,
        "error": execution.error,
        "cause": execution.cause,
    }


def _is_too_large(*texts: str | None) -> bool:
    """Return whether texts are too large for an event, in which they are escaped."""
    return limits.exceeds("states:Event", "input and output", sum(len(json.dumps(text)) for text in texts if text))


def _milliseconds(moment: Any) -> int:
    return int(moment.timestamp() * 1000)


def stop_all() -> None:
    """Stop every execution of every account."""
    for account in list(stepfunctions_parser_backends.values()):
        for backend in list(account.values()):
            for execution in backend._get_executions():
                if not execution.over.is_set():
                    execution.stop(None, None, None)


def patch() -> None:
    """Replace moto's executions."""
    StepFunctionsParserBackend.start_execution = _start_named
    StepFunctionResponse.stop_execution = _stop_answered
    StepFunctionResponse.describe_execution = _described
    StepFunctionResponse.list_executions = _listed
    StepFunctionResponse.get_execution_history = _history
    BaseExecutionWorkerCommunication.terminated = _ended
    Execution.__init__ = _new_execution
    Execution.start = _start_heard
    Execution.get_start_execution_details = _details
    Execution.stop = _stop
