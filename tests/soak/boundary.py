"""A Lambda function that can die, hang or lose a reply at every boundary between two calls.

A sandbox that hangs is not a thread. What a function does follows from its input and the replies it got. So a hanging run is
discarded; to continue, it runs again from its start with the recorded replies.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ReadTimeoutError

from tests.soak.faults import Fault, Faults
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_sagemaker import Refusal, service_error

Json = dict[str, Any]
LIMIT_S = 60
"""The functions' timeout."""

RETURN = "Return"
"""The boundary after the last call: the function is done, but its result is not recorded yet."""


class SandboxError(Exception):
    """The sandbox ended: killed, out of memory, or timed out."""


class _Dies(BaseException):
    """The code ends here; it cannot catch that."""


class _Hangs(BaseException):
    """The code continues here later."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


@dataclass
class Invocation:
    """One run of a function. ``work`` is the real code, which makes its calls through this object."""

    timeline: Timeline
    faults: Faults
    function: str
    request_id: str
    work: Callable[["Invocation"], Any]
    on_result: Callable[[Any], None]
    on_error: Callable[[Exception], None]
    is_over: bool = False
    replies: list[tuple[Any, Exception | None]] = field(default_factory=list)
    _position: int = 0
    _is_forewarned: bool = False

    def start(self) -> None:
        """Run; the result is reported at its time."""
        self.timeline.after(LIMIT_S, self._time_out)
        self._go_on()

    def call(self, operation: str, do: Callable[[], Any]) -> Any:
        """Make the call ``do``, or return its recorded reply."""
        self._position += 1
        if self._position <= len(self.replies):
            return _replied(self.replies[self._position - 1])
        fault = None if self._is_forewarned else self.faults.at(self.function, operation)
        self._is_forewarned = False
        self.replies.append(self._made(operation, do, fault))
        if fault and fault.kind == "pause_after":
            raise _Hangs(fault.seconds)
        return _replied(self.replies[-1])

    def _go_on(self) -> None:
        if self.is_over:
            return
        self._position = 0
        try:
            result = self.work(self)
            self.call(RETURN, lambda: None)
        except _Hangs as pause:
            self.timeline.after(pause.seconds, self._go_on)
        except _Dies:
            self.faults.crashes += 1
            self._fail(SandboxError("Runtime exited with error: signal: killed"))
        except Exception as error:  # noqa: BLE001 (Lambda reports every error of a function)
            self._fail(error)
        else:
            self.is_over = True
            self.on_result(result)

    def _made(self, operation: str, do: Callable[[], Any], fault: Fault | None) -> tuple[Any, Exception | None]:
        kind = fault.kind if fault else ""
        if not fault or kind == "pause_after":
            return _outcome(do)
        if kind == "die":
            raise _Dies
        if kind == "pause":
            self._is_forewarned = True
            raise _Hangs(fault.seconds)
        if kind == "refuse":
            return None, service_error(operation, Refusal(fault.code, status=fault.status))
        if kind == "late":
            self.timeline.after(fault.seconds, lambda: _ignore(do))
            raise _Dies
        return self._lost(do, fault)

    def _lost(self, do: Callable[[], Any], fault: Fault) -> tuple[Any, Exception | None]:
        """Make the call without a reply: the sandbox dies, the SDK retries, or the call times out."""
        if fault.kind == "lose" and fault.seconds:
            self.timeline.after(fault.seconds, lambda: _ignore(do))
        else:
            _ignore(do)
        if fault.kind == "die_after":
            raise _Dies
        if fault.kind == "retry":
            return _outcome(do)
        return None, ReadTimeoutError(endpoint_url="https://service")

    def _time_out(self) -> None:
        if not self.is_over:
            self.faults.crashes += 1
            self._fail(SandboxError(f"Task timed out after {LIMIT_S} seconds"))

    def _fail(self, error: Exception) -> None:
        self.is_over = True
        self.on_error(error)


def _outcome(do: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return do(), None
    except Exception as error:  # noqa: BLE001 (recorded for the code that made the call)
        return None, error


def _ignore(do: Callable[[], Any]) -> None:
    """Make a call and discard its reply."""
    _outcome(do)


def _replied(reply: tuple[Any, Exception | None]) -> Any:
    value, error = reply
    if error:
        raise error
    return value
