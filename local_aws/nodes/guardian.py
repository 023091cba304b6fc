"""`python -m local_aws.nodes.guardian FOLDER`: start a hub, and clean up when it or its owner has ended.

It runs outside the hub's namespaces. Its standard input is a pipe from its owner, the embedded AWS: when that closes, however
the owner ended, the guardian kills the hub and removes what the kernel does not: cgroups and raised limits.
"""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.builds.programs import find_programs_of_root
from local_aws.nodes import cgroups
from local_aws.nodes.protocol import SOCKET
from local_aws.nodes.registry import Entry, Registry
from local_aws.process_start import born

# When process 1 of the namespace ends, all its processes end. It is a shell, to reap orphans of nodes.
_NAMESPACES = ("unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child")
_END_S = 10.0
_IN_CGROUP = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


def main(folder: Path) -> int:
    """Run the hub in ``folder`` until it or the owner ends."""
    find_programs_of_root()
    end_event = os.eventfd(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os.eventfd_write(end_event, 1))
    registry, top = Registry(), cgroups.hierarchy() / cgroups.name_for(folder)
    entry = Entry(str(folder), top.name, os.getpid(), born(os.getpid()))
    with registry.lock():
        clear_dead(registry)
        if any(other.cgroup == entry.cgroup for other in registry.entries()):
            raise HostError(f"another hub lives in {folder}")
        registry.add(entry)
    try:
        hub = _start(folder, top)
        _watch(hub, end_event)
        status = _end(hub)
    finally:
        with registry.lock():
            clear(registry, entry)
    return status


def clear_dead(registry: Registry) -> None:
    """Clean up after hubs whose guardian was killed. Hold the registry's lock."""
    for entry in registry.entries():
        if not entry.lives:
            clear(registry, entry)


def clear(registry: Registry, entry: Entry) -> None:
    """Clean up after a hub. Hold the registry's lock."""
    cgroups.remove(cgroups.hierarchy() / entry.cgroup)
    for place, _ in cgroups.version_1():
        cgroups.remove_empty(place / entry.cgroup)
    (Path(entry.folder) / SOCKET).unlink(missing_ok=True)
    registry.remove(entry)


def _start(folder: Path, top: Path) -> subprocess.Popen[bytes]:
    cgroups.make(top)
    (top / "hub").mkdir()
    reaper = ("sh", "-c", '"$@"; exit $?', "sh")
    hub = (sys.executable, "-m", "local_aws.nodes.machines", str(folder))
    command = ["setpriv", "--pdeathsig", "KILL", *_NAMESPACES, *reaper, *hub]
    return subprocess.Popen(["sh", "-c", _IN_CGROUP, str(top / "hub"), *command], stdin=subprocess.PIPE)


def _watch(hub: subprocess.Popen[bytes], end_event: int) -> None:
    handle = os.pidfd_open(hub.pid)
    select.select([sys.stdin, handle, end_event], [], [])
    os.close(handle)


def _end(hub: subprocess.Popen[bytes]) -> int:
    """Close the hub's standard input, which ends it; kill it if it does not end."""
    if hub.stdin:
        hub.stdin.close()
    try:
        return hub.wait(_END_S)
    except subprocess.TimeoutExpired:
        hub.kill()
        return hub.wait()


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except HostError as error:
        sys.exit(str(error))
