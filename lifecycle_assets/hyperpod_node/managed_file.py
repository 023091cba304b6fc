"""Files that these scripts write whole: changed only where they differ, and never seen half written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hyperpod_node.errors import NodeError


def put(path: Path, content: str, *, mode: int = 0o644, owner: tuple[int, int] | None = None) -> bool:
    """Give ``path`` this content, mode and owner (uid and gid; the caller's otherwise); tell whether anything was changed.

    The new content gets its mode before its first byte, so a secret in it is at no time readable by others.
    """
    try:
        new = content.encode(errors="surrogateescape")  # as read: what somebody else wrote need not be UTF-8
        if _is(path, new, mode, owner):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, new, mode, owner)
    except OSError as error:
        raise NodeError(f"{path} cannot be written: {error.strerror}") from None
    return True


def _replace(path: Path, content: bytes, mode: int, owner: tuple[int, int] | None) -> None:
    descriptor, new = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # its own name: other nodes may write here too
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if owner:
                os.fchown(file.fileno(), *owner)
            os.fchmod(file.fileno(), mode)
        Path(new).replace(path)
    except OSError:
        Path(new).unlink(missing_ok=True)
        raise


def _is(path: Path, content: bytes, mode: int, owner: tuple[int, int] | None) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    there = path.stat()
    right_owner = owner is None or (there.st_uid, there.st_gid) == owner
    return there.st_mode & 0o7777 == mode and right_owner and path.read_bytes() == content
