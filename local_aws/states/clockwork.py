"""Stand-ins for `time`, `datetime` and `threading` that moto's interpreter is given, so that its time is the clock's."""

import datetime as dt
import threading as real_threading
import time
from types import ModuleType, SimpleNamespace
from typing import Any

from local_aws.clock import clock


class Moment(dt.datetime):
    """A moment that is written as Step Functions writes it: 2026-11-21T09:00:00.123Z."""

    def isoformat(self, sep: str = "T", timespec: str = "milliseconds") -> str:
        """The moment in UTC, with a Z."""
        return dt.datetime.isoformat(self.replace(tzinfo=None), sep, timespec) + "Z"


class _Datetime(dt.datetime):
    """`datetime.datetime` with the clock's now."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        """The clock's moment; without a zone in UTC, with which moto compares time stamps that end in Z."""
        now = clock.now()
        moment = Moment.fromtimestamp(now.timestamp(), dt.UTC)
        return moment if tz else moment.replace(tzinfo=None)


class ClockEvent(real_threading.Event):
    """An event that is waited for on the clock."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for at most ``timeout`` of AWS's seconds."""
        return super().wait() if timeout is None else clock.wait(_Waited(self), timeout)


class _Waited:
    """The event behind a ClockEvent, to be waited for in the host's seconds."""

    def __init__(self, event: ClockEvent) -> None:
        self._event = event

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for at most ``timeout`` of the host's seconds."""
        return real_threading.Event.wait(self._event, timeout)

    def is_set(self) -> bool:
        """Whether it has come."""
        return self._event.is_set()


_STAND_INS = {
    "time": SimpleNamespace(sleep=clock.sleep, time=clock.seconds),
    "datetime": SimpleNamespace(**{**vars(dt), "datetime": _Datetime}),
    "threading": SimpleNamespace(**{**vars(real_threading), "Event": ClockEvent}),
    "Event": ClockEvent,
}


def wind(module: ModuleType, name: str) -> None:
    """Give ``module`` our stand-in for ``name``, which it must have imported as the standard library has it."""
    if vars(module).get(name) not in (time, dt, real_threading, real_threading.Event):
        raise TypeError(f"{module.__name__} has no {name!r} of the standard library any more: moto has changed")
    setattr(module, name, _STAND_INS[name])
