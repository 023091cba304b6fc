"""Wait for DNS and for apt's locks, which may not be ready when a node has just booted.

This step downloads nothing; a later step installs MariaDB if the image lacks it.
"""

from __future__ import annotations

import fcntl
import os
import struct
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

DPKG_LOCKS = ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock")
ADDRESS_TIMEOUT_S, INSTALLATIONS_TIMEOUT_S = 300, 600
FLOCK = "hhqqi"  # struct flock of 64-bit Linux: type, whence, start, length, pid


def apply(context: Context, system: System) -> None:
    """Wait until the names of the file systems resolve and no other process installs packages."""
    parameters = context.parameters
    for name in (parameters.fsx_dns_name, parameters.fsx_openzfs_dns_name):
        if name:
            attempt = partial(_require_address, name, system)
            system.retry(f"the address of {name}", attempt, ADDRESS_TIMEOUT_S, is_outside=True)
    # An installation in progress locks the user database and restarts services that later steps use.
    try:
        system.retry("the end of other installations", partial(_require_free, system), INSTALLATIONS_TIMEOUT_S)
    except NodeError as error:  # most nodes install nothing, and an installation waits for the lock itself
        print(f"warning: {error}; the next steps do not wait for it")


def _require_address(name: str, system: System) -> None:
    try:
        system.resolve(name, None)
    except OSError as error:
        raise NodeError(f"{name} has no address ({error.strerror}); enable DNS support and DNS host names in the VPC") from None


def _require_free(system: System) -> None:
    for lock in map(system.path, DPKG_LOCKS):
        if holder := _holder(lock):
            raise NodeError(f"{lock} is held by process {holder} ({_name(holder)}); let it end or stop it")


def _holder(lock: Path) -> int | None:
    """Return the process that holds a lock, according to the kernel, without taking the lock."""
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        request = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, request))
    finally:
        os.close(descriptor)
    return pid if kind != fcntl.F_UNLCK else None


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "which has just ended"
