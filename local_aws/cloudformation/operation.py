"""Operations on stacks run in the background, one at a time for each stack."""

import threading
from collections.abc import Callable

from local_aws.cloudformation.errors import RequestError
from local_aws.cloudformation.stack import Operation, Stack

# The CDK command line looks at a stack at once and then every five seconds. If an operation is done by the first look, it saves
# those five, so a request that starts an operation waits up to this long (host seconds) before it returns.
GRACE_S = 3.0
USER_INITIATED = "User Initiated"


def begin(
    stack: Stack, status: str, work: Callable[[Operation], None], *, reason: str = USER_INITIATED, instead: bool = False
) -> None:
    """Start an operation whose first event has this status and reason; return when it is done, or after GRACE_S."""
    with stack.lock:
        if stack.busy and not instead:
            raise RequestError(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")
        operation = stack.operation = Operation()
        stack.report(status, reason)

    def run() -> None:
        try:
            work(operation)
        except Exception as error:
            stack.report(_failed(stack.status), f"internal error of the embedded AWS: {error!r}")
            raise
        finally:
            operation.ended.set()

    threading.Thread(target=run, name=f"cloudformation {stack.name}", daemon=True).start()
    operation.ended.wait(GRACE_S)


def renew_halt(stack: Stack, operation: Operation) -> bool:
    """Allow more work after a failure, as a rollback needs; return false if the operation was cancelled for good."""
    with stack.lock:
        if operation.cancelled:
            return False
        operation.halt = threading.Event()
        return True


def cancel(operation: Operation) -> None:
    """Cancel an operation for good: all waits end, and nothing is rolled back."""
    operation.cancelled = True
    operation.halt.set()


def _failed(status: str) -> str:
    return status.replace("_COMPLETE_CLEANUP", "").removesuffix("_IN_PROGRESS") + "_FAILED"
