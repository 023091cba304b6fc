"""Replacements of `time`, `datetime` and `threading` that run moto's interpreter on the clock."""

import datetime as dt
import threading as real_threading
import time
from types import ModuleType, SimpleNamespace
from typing import Any

from local_aws.clock import clock


class Moment(dt.datetime):
    """A time in Step Functions' format: 2026-11-21T09:00:00.123Z."""

    def isoformat(self, sep: str = "T", timespec: str = "milliseconds") -> str:
        """Return the time in UTC, with a Z."""
        return dt.datetime.isoformat(self.replace(tzinfo=None), sep, timespec) + "Z"


class _Datetime(dt.datetime):
    """`datetime.datetime` with the clock's now."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        """Return the clock's time; without a zone in UTC, because moto compares it with time stamps that end in Z."""
        now = clock.now()
        moment = Moment.fromtimestamp(now.timestamp(), dt.UTC)
        return moment if tz else moment.replace(tzinfo=None)


class ClockEvent(real_threading.Event):
    """An event with waits on the clock."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for at most ``timeout`` of AWS's seconds."""
        return super().wait() if timeout is None else clock.wait(_Waited(self), timeout)


class _Waited:
    """The event of a ClockEvent, with waits in the host's seconds."""

    def __init__(self, event: ClockEvent) -> None:
        self._event = event

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for at most ``timeout`` host seconds."""
        return real_threading.Event.wait(self._event, timeout)

    def is_set(self) -> bool:
        """Return whether the event is set."""
        return self._event.is_set()


_STUBS = {
    "time": SimpleNamespace(sleep=clock.sleep, time=clock.seconds),
    "datetime": SimpleNamespace(**{**vars(dt), "datetime": _Datetime}),
    "threading": SimpleNamespace(**{**vars(real_threading), "Event": ClockEvent}),
    "Event": ClockEvent,
}


def use_clock(module: ModuleType, name: str) -> None:
    """Replace ``name`` in ``module``, which must have imported it from the standard library."""
    if vars(module).get(name) not in (time, dt, real_threading, real_threading.Event):
        raise TypeError(f"{module.__name__} no longer imports {name!r} from the standard library: moto has changed")
    setattr(module, name, _STUBS[name])
