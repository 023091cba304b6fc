"""The one way to wait for something that is not ready yet."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


@dataclass(frozen=True)
class Clock:
    """Time and chance."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


CLOCK = Clock()


@dataclass(frozen=True)
class Patience:
    """How long to wait for something in all, between two tries, and before the first and the next line about it in the log."""

    within_s: float
    first_pause_s: float = 0.5
    longest_pause_s: float = 15
    silent_for_s: float = 5
    line_every_s: float = 30
    clock: Clock = CLOCK

    def pause_s(self, tries: int) -> float:
        """How long to wait after so many tries: twice as long each time, and never two nodes alike."""
        longest = min(self.longest_pause_s, self.first_pause_s * 2.0 ** min(tries - 1, 16))
        return longest * (0.5 + self.clock.chance() / 2)


def retry(what: str, attempt: Callable[[], Result], patience: Patience) -> Result:
    """What ``attempt`` returns, as soon as it raises no NodeError; the last one when patience is at its end."""
    clock = patience.clock
    started = clock.now()
    next_line, tries = started + patience.silent_for_s, 0
    while True:
        tries += 1
        try:
            return attempt()
        except NodeError as error:
            now = clock.now()
            pause = patience.pause_s(tries)
            if now + pause - started > patience.within_s:
                raise NodeError(f"{what}: gave up after {tries} tries in {now - started:.0f} s, the last: {error}") from error
            if now >= next_line:
                next_line = now + patience.line_every_s
                print(f"waiting for {what}, up to {patience.within_s:.0f} s: {error}", flush=True)
            clock.sleep(pause)
