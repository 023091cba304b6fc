"""The registry of hubs on this machine, and of the kernel limits that they raised; the last hub restores them.

It is below /run, so that it disappears with a restart of the machine, as the hubs and the raised limits do.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from local_aws.process_start import born

PLACE = Path("/run/hyperpod-cdk")
# The kernel has these limits once for all namespaces. Every node's systemd takes four or five inotify instances, so the usual
# 128 silently run out at 28 nodes; all nodes' neighbour tables count together, and overflow above 32 nodes.
LIMITS = {"fs/inotify/max_user_instances": 16384, "net/ipv4/neigh/default/gc_thresh3": 16384}


@dataclass(frozen=True)
class Entry:
    """A hub: its folder, its cgroup, and its guardian process."""

    folder: str
    cgroup: str
    guardian: int
    born: str

    @property
    def lives(self) -> bool:
        """Return whether the guardian is running; ``born`` distinguishes it from a later process with the same number."""
        return born(self.guardian) == self.born


class Registry:
    """The hubs of this machine. Changes hold a lock that other processes wait for."""

    def __init__(self, place: Path = PLACE, kernel: Path = Path("/proc/sys")) -> None:
        self._place, self._kernel = place, kernel

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the registry against all other processes for the block."""
        self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def entries(self) -> list[Entry]:
        """Return all hubs that were added and not removed, living or dead."""
        found = []
        for file in sorted(self._place.glob("*.hub")):
            with suppress(FileNotFoundError):  # another process may remove its hub between the listing and the reading
                found.append(Entry(**json.loads(file.read_text())))
        return found

    def add(self, entry: Entry) -> None:
        """Add a hub and raise the kernel's limits. Hold the lock."""
        self._write(f"{entry.cgroup}.hub", asdict(entry))
        self._raise_limits()

    def remove(self, entry: Entry) -> None:
        """Remove a hub; after the last one, restore the kernel's limits. Hold the lock."""
        (self._place / f"{entry.cgroup}.hub").unlink(missing_ok=True)
        if not self.entries():
            self._restore_limits()

    def _raise_limits(self) -> None:
        was = self._limits_before()
        for name, minimum in LIMITS.items():
            file = self._kernel / name
            if not file.exists():  # a process in its own network namespace does not see the machine's network limits
                continue
            now = int(file.read_text())
            if now < minimum:
                self._write("limits.json", was := {name: now} | was)  # save the old values first, so that a kill loses nothing
                file.write_text(str(minimum))

    def _restore_limits(self) -> None:
        unseen = {}
        for name, value in self._limits_before().items():
            file = self._kernel / name
            if file.exists():
                file.write_text(str(value))
            else:
                unseen[name] = value
        if unseen:
            self._write("limits.json", unseen)
        else:
            (self._place / "limits.json").unlink(missing_ok=True)

    def _limits_before(self) -> dict[str, int]:
        file = self._place / "limits.json"
        limits: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
        return limits

    def _write(self, name: str, content: object) -> None:
        temporary = self._place / f"{name}.{os.getpid()}"
        temporary.write_text(json.dumps(content))
        temporary.replace(self._place / name)
