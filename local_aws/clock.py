"""The one clock of the embedded AWS: waiting and delays are in AWS's seconds, which pass ``speed`` times faster than the host's.

It drives what AWS makes a client wait for: a state machine's Wait, retries and time-outs, CloudFormation's ServiceTimeout, and how
long services take. What a client compares with its own clock (time stamps of events and logs) and what really runs on this
machine (a Lambda function's code) stay in host time.
"""

import os
import threading
import time
from datetime import UTC, datetime, timedelta


class Clock:
    """A clock that starts at the host's time and runs ``speed`` times as fast."""

    def __init__(self, speed: float = 1.0) -> None:
        self.set_speed(speed)

    def set_speed(self, speed: float) -> None:
        """Run ``speed`` times as fast as the host from now on; AWS's time starts again at the host's."""
        if speed <= 0:
            raise ValueError(f"speed must be positive, got {speed}")
        self.speed = speed
        self._host_start = time.monotonic()
        self._start = datetime.now(UTC)

    def seconds(self) -> float:
        """The seconds of AWS's time that passed since the clock's start."""
        return (time.monotonic() - self._host_start) * self.speed

    def now(self) -> datetime:
        """The moment in AWS's time."""
        return self._start + timedelta(seconds=self.seconds())

    def host_seconds(self, seconds: float) -> float:
        """How long ``seconds`` of AWS's time take on the host."""
        return seconds / self.speed

    def sleep(self, seconds: float) -> None:
        """Sleep for ``seconds`` of AWS's time."""
        time.sleep(self.host_seconds(seconds))

    def wait(self, event: threading.Event, seconds: float | None) -> bool:
        """Wait for ``event`` for at most ``seconds`` of AWS's time; tell whether it came."""
        return event.wait(None if seconds is None else self.host_seconds(seconds))


DEFAULT_SPEED = 60.0
clock = Clock(float(os.environ.get("LOCAL_AWS_SPEED", DEFAULT_SPEED)))
