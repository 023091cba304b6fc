"""A network file system: its line in fstab, its mount, and the proof that it can be written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.retry import CLOCK, Clock, Patience, retry
from hyperpod_node.shell import Run, run

WITHIN_S = 300
NODES_A_SECOND = 100


@dataclass(frozen=True)
class System:
    """Where a node keeps what a mount needs."""

    fstab: Path = Path("/etc/fstab")
    units: Path = Path("/etc/systemd/system")
    mountinfo: Path = Path("/proc/self/mountinfo")
    clock: Clock = CLOCK
    run: Run = run

    def is_mounted(self, path: Path) -> bool:
        """Whether a file system is mounted at ``path``, as the kernel says; mount's own status has been seen to lie."""
        return str(path) in (line.split()[4] for line in self.mountinfo.read_text().splitlines())


SYSTEM = System()


@dataclass(frozen=True)
class Mount:
    """One line of fstab."""

    source: str
    path: Path
    kind: str
    options: str

    @property
    def line(self) -> str:
        """The line itself."""
        return f"{self.source} {self.path} {self.kind} {self.options} 0 0"


def mount(mount: Mount, *, node: str, nodes: int, system: System) -> None:
    """Mount now and at every boot, and prove by a file that ``node`` can write; do nothing where that is so already.

    A cluster's nodes all come at once, and 400 clients in one second have been seen to fail with errors that go away:
    the first try comes a little later on average in a large cluster, and further ones with growing pauses.
    """
    patience = Patience(WITHIN_S, clock=system.clock)
    _write_line(mount, system)
    if not system.is_mounted(mount.path):
        mount.path.mkdir(parents=True, exist_ok=True)
        system.clock.sleep(system.clock.chance() * nodes / NODES_A_SECOND)
        retry(f"{mount.source} at {mount.path}", lambda: _try(mount, system), patience)
    retry(f"writing to {mount.path}", lambda: _probe(mount.path, node, system.run), patience)


def _write_line(mount: Mount, system: System) -> None:
    """Have one line for the mount's folder in fstab, and a unit that tries again at boot."""
    lines = system.fstab.read_text(errors="surrogateescape").splitlines() if system.fstab.exists() else []
    others = [line for line in lines if line.lstrip().startswith("#") or line.split()[1:2] != [str(mount.path)]]
    service = f"{mount.path.name}-mounted.service"
    changed = put(system.fstab, "\n".join([*others, mount.line]) + "\n")
    changed |= put(system.units / service, unit(mount.path))
    if changed:
        system.run("systemctl", "enable", service)  # and so systemd reads fstab again, of which it makes its mount units


def unit(path: Path) -> str:
    """The unit that mounts what boot left unmounted: systemd tries a line of fstab once, on all nodes at the same moment."""
    return f"""# Written by the lifecycle scripts.
[Unit]
Description=Mount {path} when the first try at boot failed
After=remote-fs.target network-online.target
Before=slurmd.service
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'mountpoint -q {path} || mount {path}; mountpoint -q {path}'
TimeoutStartSec=120
Restart=on-failure
RestartSec=15

[Install]
WantedBy=multi-user.target
"""


def _try(mount: Mount, system: System) -> None:
    said = system.run("mount", str(mount.path), timeout_s=90, with_errors=True)
    if not system.is_mounted(mount.path):
        raise NodeError(f"`mount {mount.path}` ended with status 0 but mounted nothing; it said: {said.strip() or 'nothing'}")


def _probe(path: Path, node: str, run: Run) -> None:
    """Write a file, read it back and remove it, by programs: one that hangs on a dead mount can be given up."""
    probe = str(path / f".write-probe-{node}")
    run("tee", probe, stdin=node)
    if (there := run("cat", probe)) != node:
        raise NodeError(f"{probe} was written as {node!r} and reads as {there!r}")
    run("rm", probe)
