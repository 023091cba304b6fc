"""Run as `write_probe.py FOLDER TEXT` by root: write TEXT to a file in FOLDER, read it and delete it.

Users may be able to write to FOLDER. So the file is in a new folder with a random name that only root can enter, and is never
opened through a link.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NOFOLLOW


def probe(folder: Path, text: str) -> None:
    """Raise OSError or ValueError unless text written to ``folder`` can be read back."""
    own = tempfile.mkdtemp(prefix=".write-probe-", dir=folder)
    handle = os.open(own, os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _write(handle, text)
        content = _read(handle)
        os.unlink("probe", dir_fd=handle)
    finally:
        os.close(handle)
    Path(own).rmdir()
    if content != text:
        raise ValueError(f"{own}/probe: wrote {text!r} but read {content!r}")


def _write(folder: int, text: str) -> None:
    with os.fdopen(os.open("probe", CREATE, 0o600, dir_fd=folder), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _read(folder: int) -> str:
    with os.fdopen(os.open("probe", READ, dir_fd=folder)) as file:
        return file.read()


if __name__ == "__main__":
    try:
        probe(Path(sys.argv[1]), sys.argv[2])
    except (OSError, ValueError) as error:
        sys.exit(str(error))
