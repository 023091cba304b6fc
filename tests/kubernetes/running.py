"""The processes of a control plane, as this machine sees them."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path


def processes(folder: Path) -> dict[int, list[str]]:
    """The living processes whose command line names ``folder``: pid -> command line."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            if any(str(folder) in word for word in words):
                found[int(path.parent.name)] = words
    return found


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
