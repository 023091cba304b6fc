"""Write whole files: only if they differ, and atomically."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.system import System


def put(path: Path, content: str, *, mode: int = 0o644, owner: tuple[int, int] | None = None) -> bool:
    """Write content, mode and owner (uid and gid; default: the caller's) of ``path``; return whether anything changed.

    The mode is set before the file is visible, so that other users can never read a secret in it.
    """
    try:
        new = content.encode(errors="surrogateescape")  # content that was read from another program's file need not be UTF-8
        if _is(path, new, mode, owner):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, new, mode, owner)
    except OSError as error:
        raise NodeError(f"cannot write {path}: {error.strerror}") from None
    return True


def put_sudo_rules(path: Path, content: str, system: System) -> None:
    """Write a file of sudo rules; an invalid one would disable sudo."""
    if not path.exists() or path.read_text() != content:
        system.run("visudo", "--check", "--quiet", "--file=-", stdin=content)
    put(path, content, mode=0o440)


def _replace(path: Path, content: bytes, mode: int, owner: tuple[int, int] | None) -> None:
    descriptor, new = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # a unique name: other nodes may write here too
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if owner:
                os.fchown(file.fileno(), *owner)
            os.fchmod(file.fileno(), mode)
        Path(new).replace(path)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            Path(new).unlink()
        raise


def _is(path: Path, content: bytes, mode: int, owner: tuple[int, int] | None) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    status = path.stat()
    right_owner = owner is None or (status.st_uid, status.st_gid) == owner
    return status.st_mode & 0o7777 == mode and right_owner and path.read_bytes() == content
