"""Moto's interpreter of the Amazon States Language, on the clock and with immediate stops."""

import sys
import threading
from typing import Any

from botocore.exceptions import ClientError
from moto.stepfunctions.parser import models
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.component.state import state
from moto.stepfunctions.parser.asl.component.state.exec import execute_state
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_aws_sdk,
    state_task_service_callback,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_lambda import (
    StateTaskServiceLambda,
)
from moto.stepfunctions.parser.asl.component.state.wait.wait_function import timestamp, wait_function
from moto.stepfunctions.parser.asl.eval import environment
from moto.stepfunctions.parser.asl.eval.callback import callback
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.event import event_manager
from moto.stepfunctions.parser.asl.eval.program_state import ProgramEnded, ProgramError, ProgramRunning
from moto.stepfunctions.parser.asl.utils import boto_client
from moto.stepfunctions.parser.backend import execution

from local_aws import faults
from local_aws.clock import clock
from local_aws.states import clients
from local_aws.states.clock_stubs import use_clock

_PARSER = "moto.stepfunctions.parser."
_lambda_error = StateTaskServiceLambda._error_cause_from_client_error
_init = Environment.__init__
_enter = state.CommonStateField._eval_body
_try = execute_state.ExecutionState._evaluate_with_timeout
_ends = {name: getattr(Environment, name) for name in ("set_ended", "set_error", "set_stop", "set_timed_out")}
# Step Functions' names of Lambda's own errors; all others are Lambda.AWSLambdaException.
_LAMBDA_ERRORS = (
    "ResourceNotFoundException",
    "ServiceException",
    "TooManyRequestsException",
    "InvalidParameterValueException",
    "RequestTooLargeException",
)


def _new_environment(self: Any, *positional: Any, **named: Any) -> None:
    """Create an environment with an event that stays set at its end; moto sets and clears its own event at once."""
    self.over = threading.Event()
    _init(self, *positional, **named)


def _ending(name: str) -> Any:
    """Return moto's method that ends an environment, now without effect after the first end."""

    def end(self: Any, *positional: Any, **named: Any) -> None:
        with self._state_mutex:
            if isinstance(self._program_state, ProgramRunning):
                _ends[name](self, *positional, **named)
                self.over.set()

    return end


def _enter_state(self: Any, env: Any) -> None:
    """Enter a state, unless a fault ends the execution."""
    if not _is_ended_by_order(env):
        _enter(self, env)


def _attempt(self: Any, env: Any) -> None:
    """Try a task; a fault may end the execution before a retry."""
    is_again = env.states.context_object.context_object_data["State"].get("RetryCount", 0) > 0
    if not (is_again and _is_ended_by_order(env)):
        _try(self, env)


def _is_ended_by_order(env: Any) -> bool:
    """End the execution if a fault says so; return whether it did."""
    fault = None if env.is_frame() else faults.take("states:Run", "abort", "fail", "time_out", target=_machine(env))
    if fault is None:
        return False
    if fault.kind == "abort":
        env.set_stop(stop_date=clock.now(), error=fault.code, cause=fault.message)
    elif fault.kind == "fail":
        env.set_error(error={"error": fault.code, "cause": fault.message})
    else:
        env.set_timed_out()
    return True


def _machine(env: Any) -> str:
    return str(env.states.context_object.context_object_data["StateMachine"]["Id"])


def _run_program(self: Any, env: Any) -> None:
    """Run the program until it ends, is stopped, or times out; a task that is then still running is abandoned."""
    env.next_state_name = self.start_at.start_at_name
    seconds = self.timeout_seconds.timeout_seconds if self.timeout_seconds else None
    thread = threading.Thread(target=EvalComponent.eval, args=(self, env), daemon=True)
    thread.start()
    if not clock.wait(env.over, seconds):
        env.set_timed_out()
    if isinstance(env.program_state(), (ProgramEnded, ProgramError)):
        thread.join()  # it has ended, and writes the last event


def _lambda_failure(error: ClientError) -> tuple[str, str]:
    """Return the error's name in the state machine: few of Lambda's own errors have one."""
    name, cause = _lambda_error(error)
    code = error.response["Error"]["Code"]
    return (str(name) if code in _LAMBDA_ERRORS else "Lambda.AWSLambdaException"), str(cause)


def patch() -> None:
    """Put the interpreter on the clock and replace its other parts."""
    use_clock(retrier_decl, "time")
    use_clock(wait_function, "time")
    use_clock(state_task_service_callback, "time")
    use_clock(execute_state, "threading")
    use_clock(environment, "threading")
    use_clock(callback, "Event")
    for module in (state, event_manager, execution, models, timestamp):
        use_clock(module, "datetime")
    Environment.__init__ = _new_environment
    for name in _ends:
        setattr(Environment, name, _ending(name))
    Program.eval = _run_program
    state.CommonStateField._eval_body = _enter_state
    execute_state.ExecutionState._evaluate_with_timeout = _attempt
    StateTaskServiceLambda._error_cause_from_client_error = staticmethod(_lambda_failure)
    _replace_clients()


def _replace_clients() -> None:
    """Create all clients of the interpreter with the role's credentials."""
    original = boto_client.boto_client_for
    users = [state_task_service_aws_sdk, *(each for name, each in sys.modules.items() if name.startswith(_PARSER))]
    for module in users:
        if vars(module).get("boto_client_for") is original:
            vars(module)["boto_client_for"] = clients.client_for
