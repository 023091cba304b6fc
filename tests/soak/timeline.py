"""Events in the order of a manual clock."""

import heapq
import itertools
from collections.abc import Callable
from datetime import datetime

from tests.unit.cluster_resource.manual_clock import ManualClock


class Timeline:
    """The future events, by time, then by the order in which they were added."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self._agenda: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Schedule ``what`` in ``seconds``."""
        heapq.heappush(self._agenda, (self.clock.after(seconds), next(self._order), what))

    def pass_time(self, seconds: float, *, until: Callable[[], bool] = lambda: False) -> None:
        """Advance by ``seconds`` and run their events; stop as soon as ``until`` holds."""
        end = self.clock.after(seconds)
        while self._agenda and self._agenda[0][0] <= end:
            if until():
                return
            at, _, what = heapq.heappop(self._agenda)
            self.clock.now = max(self.clock.now, at)
            what()
        self.clock.now = end
