"""One run at a time: the lifecycle script or the agent."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.system import System

FILE = Path("/run/hyperpod-cdk.lock")
PAUSE_S = 0.5


@contextmanager
def held(system: System, wait_s: float = 0) -> Iterator[bool]:
    """Hold the lock; yield False if another run still holds it after ``wait_s``."""
    file = system.path(FILE)
    file.parent.mkdir(parents=True, exist_ok=True)
    end = system.clock.now() + wait_s
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)  # a user that can open the file could hold the lock
    try:
        while not (taken := _take(descriptor)) and system.clock.now() < end:
            system.clock.sleep(PAUSE_S)
        yield taken
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
