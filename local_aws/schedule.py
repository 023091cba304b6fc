"""What services do later: actions that happen after some of AWS's seconds, on one thread of their own."""

import heapq
import itertools
import logging
import threading
from collections.abc import Callable

from local_aws.clock import Clock, clock

Action = Callable[[], None]
_log = logging.getLogger(__name__)


class Schedule:
    """Actions in the order in which they are due."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._added = threading.Event()
        self._due: list[tuple[float, int, Action]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, action: Action) -> None:
        """Let ``action`` happen after ``seconds`` of AWS's time; it must not block."""
        with self._lock:
            heapq.heappush(self._due, (self._clock.seconds() + seconds, next(self._numbers), action))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="local_aws.schedule", daemon=True)
                self._thread.start()
        self._added.set()

    def clear(self) -> None:
        """Forget everything that was to happen."""
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
            except Exception:  # noqa: BLE001  one service's mistake, which is logged, must not stop the others' time
                _log.exception("a scheduled action of the embedded AWS failed")

    def _next(self) -> tuple[Action | None, float | None]:
        """What is due now, or how long nothing is: None for ever."""
        with self._lock:
            if not self._due:
                return None, None
            left = self._due[0][0] - self._clock.seconds()
            return (heapq.heappop(self._due)[2], None) if left <= 0 else (None, left)


schedule = Schedule(clock)
