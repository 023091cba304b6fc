"""Runs a Python function's code in a separate process: a line with an event in, a line with the result out.

Replaces the runtime inside Lambda's execution environment. It is started with `-I -S`, so that only the standard library and
the folders in PATH_ENTRIES can be imported. It does not depend on the embedded AWS.
"""

import contextlib
import importlib
import json
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

Handler: TypeAlias = Callable[[Any, "Context"], Any]
RESULT_FD = int(os.environ.pop("_RESULT_FD"))
OPT = os.environ.pop("_OPT", "")
CALLER_ADDRESS = os.environ.pop("_CALLER_ADDRESS", "")
PATH_ENTRIES = [os.environ["LAMBDA_TASK_ROOT"], *([OPT + "/python"] if OPT else []), os.environ.pop("_RUNTIME_PACKAGES")]
END_OF_LOG = b"\x1e"


class Context:
    """The context object that Lambda passes to a handler."""

    def __init__(self, invocation: dict[str, Any]) -> None:
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]
        self.invoked_function_arn = invocation["arn"]
        self.aws_request_id = invocation["id"]
        self.client_context = None
        self.identity = None
        self._deadline = float(invocation["deadline"])

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until Lambda ends the invocation."""
        return max(0, int((self._deadline - time.time()) * 1000))


def redirect_opt() -> None:
    """Let programs below /opt run from the unpacked layers, because only root could put them there."""
    import subprocess  # noqa: PLC0415  only functions with layers need it

    class Redirected(subprocess.Popen[Any]):
        """A process whose program comes from the layers."""

        def __init__(self, args: Any, *rest: Any, **options: Any) -> None:
            if isinstance(args, (list, tuple)) and str(args[0]).startswith("/opt/"):
                program = Path(OPT + str(args[0]).removeprefix("/opt"))
                with program.open("rb") as file:
                    is_python = b"/var/lang/bin/python" in file.readline()
                args = [*([sys.executable, "-S"] if is_python else []), str(program), *args[1:]]
            super().__init__(args, *rest, **options)

    vars(subprocess)["Popen"] = Redirected


def call_from(address: str) -> None:
    """Let connections to this machine come from ``address``, which stands for the function's network."""
    connect = socket.socket.connect

    def connect_from(self: socket.socket, target: Any) -> None:
        if self.family is socket.AF_INET and target[0].startswith("127.") and self.getsockname()[0] == "0.0.0.0":  # noqa: S104
            self.bind((address, 0))
        connect(self, target)

    socket.socket.connect = connect_from  # type: ignore[assignment,method-assign]


def load_handler() -> Handler:
    """Return the function that _HANDLER names; report import errors as Lambda does."""
    module_name, name = os.environ["_HANDLER"].rsplit(".", 1)
    try:
        module = importlib.import_module(module_name.replace("/", "."))
    except ImportError as error:
        raise RuntimeApiError("Runtime.ImportModuleError", f"Unable to import module '{module_name}': {error}") from error
    except SyntaxError as error:
        raise RuntimeApiError("Runtime.UserCodeSyntaxError", f"Syntax error in module '{module_name}': {error}") from error
    if not hasattr(module, name):
        raise RuntimeApiError("Runtime.HandlerNotFound", f"Handler '{name}' missing on module '{module_name}'")
    handler: Handler = getattr(module, name)
    return handler


class RuntimeApiError(Exception):
    """An error of the runtime: the code cannot be loaded, or its result cannot be sent."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def described(error: Exception, request_id: str) -> dict[str, Any]:
    """Return the error in Lambda's form."""
    kind, trace = type(error).__name__, traceback.format_tb(error.__traceback__)[1:]
    if isinstance(error, RuntimeApiError):
        kind, trace = error.kind, []
    return {"errorMessage": str(error), "errorType": kind, "requestId": request_id, "stackTrace": trace}


def invoke(handler: Handler | None, invocation: dict[str, Any]) -> str:
    """Return the line with the result or the error."""
    try:
        result = (handler or load_handler())(invocation["event"], Context(invocation))
        return json.dumps({"payload": marshalled(result)})
    except Exception as error:  # noqa: BLE001  any exception of a handler is its result
        failure = described(error, invocation["id"])
        print(f"[ERROR] {failure['errorType']}: {error}\n{''.join(traceback.format_exception(error))}")  # noqa: T201  its log
        return json.dumps({"payload": json.dumps(failure), "failed": True})


def marshalled(result: object) -> str:
    """Return the handler's result as JSON."""
    try:
        return json.dumps(result)
    except (TypeError, ValueError) as error:
        raise RuntimeApiError("Runtime.MarshalError", f"Unable to marshal response: {error}") from error


def end_with_parent(lines: "queue.Queue[str]") -> None:
    """Queue the lines of stdin; when it closes, the embedded AWS is gone: end with all children."""
    for line in sys.stdin:
        lines.put(line)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Load the code, signal readiness, and handle invocations until stdin closes."""
    sys.path[:0] = PATH_ENTRIES
    if OPT:
        redirect_opt()
    if CALLER_ADDRESS:
        call_from(CALLER_ADDRESS)
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=end_with_parent, args=(lines,), daemon=True).start()
    handler = None
    with contextlib.suppress(Exception):  # the invocation loads it again, and returns the error
        handler = load_handler()
    with os.fdopen(RESULT_FD, "w") as results:
        answer = json.dumps({"ready": True})
        while True:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(1, END_OF_LOG)
            results.write(answer + "\n")
            results.flush()
            answer = invoke(handler, json.loads(lines.get()))


main()
