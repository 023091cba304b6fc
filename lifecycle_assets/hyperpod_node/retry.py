"""Retry until an attempt succeeds or a timeout expires."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
OUTSIDE = "the next attempt may succeed: this node waited for something outside it"
"""The line before the last one in the log of a node; lambda_assets/cluster_resource/node_failures.py reads it."""


@dataclass(frozen=True)
class Clock:
    """Time and random numbers."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


CLOCK = Clock()


@dataclass(frozen=True)
class RetryPolicy:
    """The timeout, the pauses between attempts, and the times of log lines."""

    timeout_s: float
    first_pause_s: float = 0.5
    longest_pause_s: float = 15
    is_outside: bool = False
    """Whether it waits for something outside the node, so that the next attempt of HyperPod may succeed."""
    clock: Clock = CLOCK
    log_after_s: float = 5
    log_every_s: float = 30

    def pause_s(self, tries: int) -> float:
        """Return the pause after so many attempts: it doubles each time, with jitter."""
        longest = min(self.longest_pause_s, self.first_pause_s * 2.0 ** min(tries - 1, 16))
        return longest * (0.5 + self.clock.random() / 2)


def retry(what: str, attempt: Callable[[], Result], policy: RetryPolicy) -> Result:
    """Return the result of the first ``attempt`` that raises no NodeError; after the timeout, raise with the last error."""
    clock = policy.clock
    started = clock.now()
    next_line, tries = started + policy.log_after_s, 0
    while True:
        tries += 1
        try:
            return attempt()
        except NodeError as error:
            now = clock.now()
            pause = policy.pause_s(tries)
            if now + pause - started > policy.timeout_s:
                if policy.is_outside:
                    print(OUTSIDE, flush=True)
                raise NodeError(f"{what}: gave up after {tries} attempts in {now - started:.0f} s: {error}") from error
            if now >= next_line:
                next_line = now + policy.log_every_s
                print(f"waiting for {what}, up to {policy.timeout_s:.0f} s: {error}", flush=True)
            clock.sleep(pause)
