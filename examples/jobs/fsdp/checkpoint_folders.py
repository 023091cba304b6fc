"""Where checkpoints lie, which of them is complete, and which is the newest. Plain files: no torch in here.

A checkpoint is written into a folder whose name ends in `.partial` and renamed when all of it is on disk. So a folder with a
checkpoint's name is a complete checkpoint, whenever and wherever the power went.
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
    """The name of the checkpoint that was made after ``step`` steps."""
    return f"step-{step:08d}"


def newest(folder: Path) -> Path | None:
    """Return the newest complete checkpoint in ``folder``: what `latest` names, or a newer one that it does not name yet."""
    found = complete(folder)
    return found[-1] if found else None


def complete(folder: Path) -> list[Path]:
    """Return all complete checkpoints in ``folder``, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if COMPLETE.fullmatch(path.name) and path.is_dir())


def begin(folder: Path, step: int, attempt: str) -> Path:
    """Make the folder to write a checkpoint into; ``attempt`` keeps it apart from what an earlier start of the job left."""
    partial = folder / f"{name_of(step)}.{attempt}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    return partial


def publish(partial: Path, step: int) -> Path:
    """Turn ``partial``, which is on disk, into the checkpoint of ``step``, and let `latest` name it."""
    folder, final = partial.parent, partial.parent / name_of(step)
    sync(partial)
    try:
        partial.rename(final)
    except OSError:
        if not final.is_dir():
            raise
        shutil.rmtree(partial)  # an earlier start of the job got so far too: the same step, the same content
    pointer = folder / f".{LATEST}.new"
    pointer.write_text(final.name + "\n")
    pointer.replace(folder / LATEST)
    sync(folder)
    return final


def prune(folder: Path, keep: int) -> None:
    """Delete all but the ``keep`` newest checkpoints, and what was left partial."""
    for path in [*complete(folder)[:-keep], *folder.glob("*.partial")]:
        shutil.rmtree(path, ignore_errors=True)  # best effort: the next checkpoint tries again


def sync(folder: Path) -> None:
    """Have the folder's own entries on disk: a rename is lasting only then."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
