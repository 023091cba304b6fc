"""An invocation of a function: its process, its response in Lambda's form, its log, and a record for tests."""

import json
import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from local_aws import faults
from local_aws.clock import clock
from local_aws.errors import AwsError
from local_aws.functions import logs
from local_aws.functions.environment import version_of
from local_aws.functions.pool import Pool
from local_aws.functions.worker import Worker

_NO_MORE_THAN = 5_000  # invocations remembered


@dataclass(frozen=True)
class Invocation:
    """The result: ``payload`` is the function's result or the error; ``error`` is Lambda's word for a failed one."""

    function: str
    arn: str
    request_id: str
    event: Any
    payload: Any
    error: str | None
    seconds: float
    attempt: int
    log: str


pool = Pool()
_record: deque[Invocation] = deque(maxlen=_NO_MORE_THAN)
_lock = threading.Lock()


def run(function: Any, event: Any, endpoint: str, *, request_id: str = "", attempt: int = 1) -> Invocation:
    """Run the function with ``event`` in its process, and record the invocation."""
    request_id = request_id or str(uuid.uuid4())
    begin = time.monotonic()
    with clock.work():
        try:
            with _worker(function, endpoint) as worker:
                failed, payload = _answer(function, worker, request_id, event)
                text = _log_text(function, request_id, worker.take_log(), time.monotonic() - begin)
                logs.write(function, worker.log_stream, text)
        except AwsError as error:  # the role was deleted after the event was accepted
            failed, text = True, ""
            payload = {"errorType": error.error_type, "errorMessage": error.message}
    invocation = Invocation(
        function=function.function_name,
        arn=function.function_arn,
        request_id=request_id,
        event=event,
        payload=payload,
        error="Unhandled" if failed else None,
        seconds=time.monotonic() - begin,
        attempt=attempt,
        log=text,
    )
    with _lock:
        _record.append(invocation)
    return invocation


def recorded() -> list[dict[str, Any]]:
    """Return all invocations, in the order of their ends."""
    with _lock:
        return [asdict(invocation) for invocation in _record]


def forget() -> None:
    """Delete the records."""
    with _lock:
        _record.clear()


@contextmanager
def _worker(function: Any, endpoint: str) -> Iterator[Worker]:
    worker, changes = pool.take(function, endpoint)
    try:
        yield worker
    except BaseException:
        pool.end(worker)
        raise
    if worker.alive:
        pool.give_back(function, worker, changes)
    else:
        pool.end(worker)


def _answer(function: Any, worker: Worker, request_id: str, event: Any) -> tuple[bool, Any]:
    """Return whether the invocation failed, and its payload: the process's, or Lambda's if there is none."""
    if faults.take("lambda:Run", "kill", target=function.function_arn, at="before"):
        worker.kill()
    result = worker.invoke(request_id, function.function_arn, event, float(function.timeout))
    if result.payload is not None and not faults.take("lambda:Run", "kill", target=function.function_arn, at="after"):
        return result.failed, json.loads(result.payload)
    if result.payload is not None:
        worker.kill()
    return True, _no_result(function, worker, request_id, result.exit_status if result.payload is None else -signal.SIGKILL)


def _no_result(function: Any, worker: Worker, request_id: str, status: int | None) -> Any:
    """Return Lambda's error for a process without a result: it timed out (None), or ended with a status."""
    if status is None:
        worker.end()
        message = f"RequestId: {request_id} Error: Task timed out after {float(function.timeout):.2f} seconds"
        return {"errorType": "Sandbox.Timedout", "errorMessage": message}
    how = f"exit status {status}" if status >= 0 else f"signal: {signal.strsignal(-status)}".lower()
    message = f"RequestId: {request_id} Error: Runtime exited with error: {how}"
    return {"errorType": "Runtime.ExitError", "errorMessage": message}


def _log_text(function: Any, request_id: str, written: str, seconds: float) -> str:
    text = written if written.endswith("\n") or not written else written + "\n"
    milliseconds = f"{seconds * 1000:.2f} ms"
    report = f"REPORT RequestId: {request_id}\tDuration: {milliseconds}\tMemory Size: {function.memory_size} MB"
    start = f"START RequestId: {request_id} Version: {version_of(function)}"
    return f"{start}\n{text}END RequestId: {request_id}\n{report}\n"
