"""Bring a folder of generated files up to date."""

from collections.abc import Mapping, Set
from pathlib import Path


def update(expected: Mapping[Path, bytes], present: Set[Path], *, write: bool = True) -> list[Path]:
    """Return the files that differ or are not expected; with ``write``, write the first and delete the others."""
    gone = present - expected.keys()
    stale = {file for file, content in expected.items() if not file.exists() or file.read_bytes() != content}
    if write:
        for file in gone:
            file.unlink()
        for file in stale:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(expected[file])
    return sorted(gone | stale)
