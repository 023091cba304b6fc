"""Waiting with a deadline."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from cli.counted import counted

FIRST_PAUSE_S, LONGEST_PAUSE_S, GROWTH = 1.0, 15.0, 1.25


@dataclass(frozen=True)
class Patience:
    """How long to wait for one event; the pauses between looks grow."""

    timeout_s: float
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic

    @property
    def span(self) -> str:
        """Return the time in the largest unit that divides it."""
        seconds = round(self.timeout_s)
        count, unit = next(
            (seconds // size, unit) for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")) if seconds % size == 0
        )
        return counted(count, unit)

    def until(self, done: Callable[[], bool]) -> bool:
        """Return whether ``done`` is true before the deadline; it is asked at least once."""
        end, pause = self.now() + self.timeout_s, FIRST_PAUSE_S
        while not done():
            left = end - self.now()
            if left <= 0:
                return False
            self.sleep(min(pause, left))
            pause = min(pause * GROWTH, LONGEST_PAUSE_S)
        return True
