"""The clock of the embedded AWS: waits and delays count AWS's seconds, which pass ``speed`` times faster than the host's.

It drives everything that AWS makes a client wait for: a state machine's Wait, retries and time-outs, CloudFormation's
ServiceTimeout, service delays. Real work on this machine (a Lambda function's code, a node's programs) takes host time, during
which the clock runs at most at the host's pace, so that a slow or busy machine never uses up AWS's time-outs.

Time stamps that people, nodes and tools compare with their own clock are in host time. A state machine has this clock, and so has
all that its functions compare with it: parameters, and clusters, nodes and cluster events if a function asks for them.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol

# During work, waiting threads check at this interval (host seconds) whether the clock is fast again.
_LOOK_S = 0.05


def host_now() -> datetime:
    """Return the host's time: clients compare time stamps with their own clock."""
    return datetime.now(UTC)


class Waitable(Protocol):
    """An object to wait for: a `threading.Event`, or one with the same methods."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for at most ``timeout`` host seconds; return whether the event is set."""

    def is_set(self) -> bool:
        """Return whether the event is set."""


class AwsTime(datetime):
    """A time of this clock, with the host's time at the same moment."""

    host: datetime


class Clock:
    """A clock that starts at the host's time and runs ``speed`` times as fast, but at most at the host's pace during work."""

    def __init__(self, speed: float = 1.0) -> None:
        self._lock = threading.Lock()
        self._working = 0
        self.set_speed(speed)

    def set_speed(self, speed: float) -> None:
        """Run ``speed`` times as fast as the host from now on; restart AWS's time at the host's."""
        if speed <= 0:
            raise ValueError(f"speed must be positive, got {speed}")
        with self._lock:
            self.speed = speed
            self._start = datetime.now(UTC)
            self._passed, self._since = 0.0, time.monotonic()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Run the clock at most at the host's pace during the block."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._passed, self._since = self._read()
            self._working += change

    def _read(self) -> tuple[float, float]:
        host = time.monotonic()
        return self._passed + (host - self._since) * self.pace, host

    @property
    def pace(self) -> float:
        """Return the current speed relative to the host's clock."""
        return min(self.speed, 1.0) if self._working else self.speed

    def seconds(self) -> float:
        """Return the AWS seconds since the clock's start."""
        with self._lock:
            return self._read()[0]

    def now(self) -> datetime:
        """Return the current AWS time."""
        return self._start + timedelta(seconds=self.seconds())

    def moment(self) -> AwsTime:
        """Return the current AWS time, and the host's."""
        moment = AwsTime.fromtimestamp(self.now().timestamp(), UTC)
        moment.host = host_now()
        return moment

    def skip(self, seconds: float) -> None:
        """Let ``seconds`` of AWS's time have passed already."""
        with self._lock:
            self._start += timedelta(seconds=seconds)

    def host_seconds(self, seconds: float) -> float:
        """Return the host seconds that ``seconds`` of AWS's time take while no work is running."""
        return seconds / self.speed

    def sleep(self, seconds: float) -> None:
        """Sleep for ``seconds`` of AWS's time."""
        self.wait(threading.Event(), seconds)

    def wait(self, event: Waitable, seconds: float | None) -> bool:
        """Wait for ``event`` for at most ``seconds`` of AWS's time; return whether it is set."""
        if seconds is None:
            return event.wait()
        end = self.seconds() + seconds
        while (left := end - self.seconds()) > 0:
            pace = self.pace
            if event.wait(left / pace if pace == self.speed else min(left / pace, _LOOK_S)):
                return True
        return event.is_set()


DEFAULT_SPEED = 300.0
clock = Clock(float(os.environ.get("LOCAL_AWS_SPEED", DEFAULT_SPEED)))
