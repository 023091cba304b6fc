"""Step Functions: moto's interpreter, with every wait on the clock and every call with the machine's role.

Unlike AWS: history holds the interpreter's events at the clock's time; DescribeExecution has no redrives; express workflows
run as standard ones.
"""

import logging
import threading
from typing import Any

import moto.stepfunctions.responses as responses_module

from local_aws.states import clients

_get_backend = responses_module.get_backend
_lock = threading.Lock()
_patched = False


def _backend_of_patched(account: str, region: str) -> Any:
    """Return moto's backend; patch the interpreter before its first use, because loading it takes most of a second."""
    global _patched  # noqa: PLW0603  the interpreter is global to the process
    with _lock:
        if not _patched:
            from local_aws.states import encryption, executions, interpreter, machines  # noqa: PLC0415  they load the interpreter

            for module in (interpreter, machines, executions, encryption):
                module.patch()
            _patched = True
    return _get_backend(account, region)


def install(endpoint: str) -> None:
    """Run state machines on the clock."""
    clients.use(endpoint)
    # It logs every failed task and every stopped wait as an error of its own; the execution's history has them.
    logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)
    responses_module.get_backend = _backend_of_patched


def reset() -> None:
    """Stop all executions without events."""
    if _patched:
        from local_aws.states import executions  # noqa: PLC0415

        executions.stop_all()
    clients.reset()
