"""Clean-up after a killed run. Everything in a hub's namespaces ended with it; the registry has the rest."""

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.nodes.guardian import clear_dead
from local_aws.nodes.registry import Entry, Registry

_END_MS = 60_000


def sweep(folder: Path) -> list[Path]:
    """End every hub in ``folder`` and below it, living or dead, and return their folders.

    It also cleans up after dead hubs in other folders, and restores the kernel's limits when no hub is left.
    """
    registry, place = Registry(), folder.resolve()
    entries = registry.entries()
    if not entries:
        return []
    ours = [entry for entry in entries if Path(entry.folder).is_relative_to(place)]
    for entry in ours:
        _end(entry)
    with registry.lock():
        clear_dead(registry)
    return [Path(entry.folder) for entry in ours]


def _end(entry: Entry) -> None:
    """Make a hub's guardian end it, and wait for that."""
    try:
        handle = os.pidfd_open(entry.guardian)
    except ProcessLookupError:
        return
    try:
        if not entry.lives:  # another process has its number
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGTERM)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(_END_MS):
            raise HostError(f"the hub in {entry.folder} did not end; process {entry.guardian} guards it")
    finally:
        os.close(handle)
