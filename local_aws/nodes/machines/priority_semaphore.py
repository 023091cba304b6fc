"""A semaphore that admits waiting threads by priority."""

import heapq
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class PrioritySemaphore:
    """Admits at most ``places`` threads at once; the lowest rank goes first, then the first to come."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[int, int]] = []
        self._numbers = itertools.count()
        self._change = threading.Condition()

    @property
    def waiting(self) -> int:
        """Return the number of waiting threads."""
        with self._change:
            return len(self._waiting)

    @contextmanager
    def acquire(self, rank: int) -> Iterator[None]:
        """Wait for a place, and hold it for the block."""
        with self._change:
            mine = (rank, next(self._numbers))
            heapq.heappush(self._waiting, mine)
            self._change.wait_for(lambda: self._free > 0 and self._waiting[0] == mine)
            heapq.heappop(self._waiting)
            self._free -= 1
            self._change.notify_all()  # there may be a place for the next thread, too
        try:
            yield
        finally:
            with self._change:
                self._free += 1
                self._change.notify_all()
