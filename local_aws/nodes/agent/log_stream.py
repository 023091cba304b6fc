"""The output of a lifecycle script for the node's log stream, in batches of lines."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self


class LogStream:
    """Collects lines and writes them in batches, in order; all are written when the block ends."""

    def __init__(self, write: Callable[[list[str]], None], every_s: float = 0.5) -> None:
        self._write, self._every_s = write, every_s
        self._lines: list[str] = []
        self.last_line = ""  # the last one that is not empty
        self._lock, self._order = threading.Lock(), threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.flush()

    def add(self, line: str) -> None:
        """Add a line; it is written soon."""
        with self._lock:
            self._lines.append(line)
            self.last_line = line.strip() or self.last_line
            if self._timer is None:
                self._timer = threading.Timer(self._every_s, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write all collected lines."""
        with self._order:
            with self._lock:
                lines, self._lines = self._lines, []
                timer, self._timer = self._timer, None
            if timer:
                timer.cancel()
            if lines:
                self._write(lines)
