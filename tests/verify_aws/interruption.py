"""Ctrl-C, SIGTERM and SIGHUP: the first ends the checks, none ends the teardown."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CONTINUES = "the teardown continues, because leftover resources cost money; it ends by itself"


class InterruptedRunError(BaseException):
    """A signal requested a stop; the text is its name. `except Exception` does not catch it."""


class Interruption:
    """Raises InterruptedRunError at the first signal while armed; later signals only print a line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._is_armed = True

    def disarm(self) -> None:
        """Let no signal interrupt what follows."""
        self._is_armed = False

    def receive(self, number: int, _: FrameType | None) -> None:
        """Handle a signal."""
        name = signal.Signals(number).name
        if not self._is_armed:
            self._say(f"{name}: {CONTINUES}")
            return
        self._is_armed = False
        raise InterruptedRunError(name)


@contextmanager
def interruptible(say: Callable[[str], None]) -> Iterator[Interruption]:
    """Handle the signals within the block."""
    interruption = Interruption(say)
    before = {number: signal.signal(number, interruption.receive) for number in SIGNALS}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
