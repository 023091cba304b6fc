"""Manage the folders of checkpoints, without torch.

A checkpoint is written to a folder whose name ends in `.partial`, which is renamed when it is on disk. So a folder with a
checkpoint's name is always complete, even after a power failure.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LATEST = "latest"
COMPLETE = re.compile(r"step-(\d{8})")


def name_of(step: int) -> str:
    """Return the name of the checkpoint after ``step`` steps."""
    return f"step-{step:08d}"


def newest(folder: Path) -> Path | None:
    """Return the newest complete checkpoint in ``folder``, which may be newer than `latest`."""
    found = complete(folder)
    return found[-1] if found else None


def complete(folder: Path) -> list[Path]:
    """Return all complete checkpoints in ``folder``, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if COMPLETE.fullmatch(path.name) and path.is_dir())


def begin(folder: Path, step: int, attempt: str) -> Path:
    """Create the folder to write a checkpoint to; ``attempt`` makes its name unique to this run of the job."""
    partial = folder / f"{name_of(step)}.{attempt}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    return partial


def publish(partial: Path, step: int) -> Path:
    """Rename ``partial`` to the checkpoint of ``step``, and update `latest`."""
    folder, final = partial.parent, partial.parent / name_of(step)
    sync(partial)
    try:
        partial.rename(final)
    except OSError:
        if not final.is_dir():
            raise
        shutil.rmtree(partial)  # an earlier run of the job wrote the same step with the same content
    pointer = folder / f".{LATEST}.new"
    pointer.write_text(final.name + "\n")
    pointer.replace(folder / LATEST)
    sync(folder)
    return final


def prune(folder: Path, keep: int) -> None:
    """Delete all but the ``keep`` newest checkpoints, and partial ones."""
    for path in [*complete(folder)[:-keep], *folder.glob("*.partial")]:
        shutil.rmtree(path, ignore_errors=True)  # best effort: the next checkpoint tries again


def sync(folder: Path) -> None:
    """Flush the folder's entries to disk, so that a rename is durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
