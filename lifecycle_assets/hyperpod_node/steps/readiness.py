"""Waits for what the later steps need and what a node that just booted may not have yet: DNS, and apt's locks.

Nothing is downloaded here; a later step installs MariaDB where the image has none.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import CLOCK, Clock, Patience, retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context

DPKG_LOCKS = ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock")
ADDRESS_WITHIN_S, INSTALLATIONS_WITHIN_S = 300, 600
FLOCK = "hhqqi"  # struct flock of 64-bit Linux: type, whence, start, length, pid


@dataclass(frozen=True)
class System:
    """What a node is asked."""

    locks: tuple[Path, ...] = tuple(map(Path, DPKG_LOCKS))
    resolve: Callable[[str, None], object] = socket.getaddrinfo
    clock: Clock = CLOCK


SYSTEM = System()


def apply(context: Context, system: System = SYSTEM) -> None:
    """Wait until the file systems' names resolve and nobody installs packages."""
    parameters = context.parameters
    for name in (parameters.fsx_dns_name, parameters.fsx_openzfs_dns_name):
        if name:
            retry(
                f"the address of {name}", partial(_require_address, name, system), Patience(ADDRESS_WITHIN_S, clock=system.clock)
            )
    # An installation in progress locks the user database and restarts services under the later steps' feet.
    patience = Patience(INSTALLATIONS_WITHIN_S, clock=system.clock)
    retry("the end of other installations", partial(_require_free, system.locks), patience)


def _require_address(name: str, system: System) -> None:
    try:
        system.resolve(name, None)
    except OSError as error:
        raise NodeError(f"{name} has no address ({error.strerror}); does the VPC have DNS support and DNS host names?") from None


def _require_free(locks: tuple[Path, ...]) -> None:
    for lock in locks:
        if holder := _holder(lock):
            raise NodeError(f"{lock} is held by process {holder} ({_name(holder)}); let it end or stop it")


def _holder(lock: Path) -> int | None:
    """The process that holds a lock, as the kernel says; the lock itself is not touched."""
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        question = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
    finally:
        os.close(descriptor)
    return pid if kind != fcntl.F_UNLCK else None


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "which has just ended"
