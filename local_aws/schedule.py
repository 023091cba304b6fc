"""The schedule of delayed actions, in AWS's seconds, on one thread."""

import heapq
import itertools
import logging
import threading
from collections.abc import Callable

from local_aws.clock import Clock, clock

Action = Callable[[], None]
_log = logging.getLogger(__name__)


class Schedule:
    """Actions, ordered by their due time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._added = threading.Event()
        self._due: list[tuple[float, int, Action]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, action: Action) -> None:
        """Run ``action`` after ``seconds`` of AWS's time; it must not block."""
        with self._lock:
            heapq.heappush(self._due, (self._clock.seconds() + seconds, next(self._numbers), action))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="local_aws.schedule", daemon=True)
                self._thread.start()
        self._added.set()

    def clear(self) -> None:
        """Cancel all actions."""
        with self._lock:
            self._due.clear()

    def _run(self) -> None:
        while True:
            self._added.clear()
            action, left = self._next()
            if action is None:
                self._clock.wait(self._added, left)
                continue
            try:
                action()
            except Exception:  # noqa: BLE001  one service's error, which is logged, must not stop the others' actions
                _log.exception("a scheduled action of the embedded AWS failed")

    def _next(self) -> tuple[Action | None, float | None]:
        """Return the action that is due, or the seconds until the next one: None for ever."""
        with self._lock:
            if not self._due:
                return None, None
            left = self._due[0][0] - self._clock.seconds()
            return (heapq.heappop(self._due)[2], None) if left <= 0 else (None, left)


schedule = Schedule(clock)
