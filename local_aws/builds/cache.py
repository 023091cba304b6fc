"""The cache of builds: folders that appear when they are complete, with a note of their last use."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT_DAYS = 7
PART = ".part"


def place() -> Path:
    """Return the folder for images and for their packages."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches.resolve() / "hyperpod-cdk"


def note(folder: Path) -> None:
    """Record that a folder of the cache is in use."""
    folder.with_name(f"{folder.name}.used").touch()


def discard(folder: Path) -> None:
    """Delete a folder of the cache; it looks unfinished first, so that a killed deletion leaves nothing that looks complete.

    Hold the lock, after ``remove_parts``.
    """
    part = unfinished(folder)
    folder.rename(part)
    shutil.rmtree(part)


def remove_parts(cache: Path) -> None:
    """Delete what killed builds and deletions left in ``cache``. Hold its lock."""
    for part in cache.glob(f"*{PART}"):
        shutil.rmtree(part, ignore_errors=True)


def unfinished(folder: Path) -> Path:
    """Return where a folder of the cache is built."""
    return folder.with_name(f"{folder.name}{PART}")


def unused(cache: Path) -> list[Path]:
    """Return the folders in ``cache`` that have not been used for a long time."""
    since = time.time() - KEPT_DAYS * 86400
    notes = cache.glob("*.used")
    return [note.with_suffix("") for note in notes if note.stat().st_mtime < since and note.with_suffix("").is_dir()]


@contextmanager
def lock(waiting: Callable[[], None], path: Path | None = None) -> Iterator[None]:
    """Hold the lock in ``path``, by default the images', for the block; call ``waiting`` first if another build holds it."""
    place().mkdir(parents=True, exist_ok=True)
    with (path or place() / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
