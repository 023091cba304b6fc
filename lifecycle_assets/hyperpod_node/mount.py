"""A network file system: its line in fstab, its mount, and the proof that it can be written.

systemd mounts it. HyperPod may run these scripts in a mount namespace of their own, whose mounts nothing else on the node sees:
https://github.com/awslabs/awsome-distributed-ai/pull/682
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hyperpod_node import write_probe
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.retry import CLOCK, Clock, Patience, retry
from hyperpod_node.shell import Run, last_lines, run

WITHIN_S = 300
NODES_A_SECOND = 100
UNIT_WITHIN_S = 100  # systemd itself gives a mount up after 90 s


@dataclass(frozen=True)
class System:
    """Where a node keeps what a mount needs."""

    fstab: Path = Path("/etc/fstab")
    units: Path = Path("/etc/systemd/system")
    host_mounts: Path = Path("/proc/1/mountinfo")  # what services and jobs see
    own_mounts: Path = Path("/proc/self/mountinfo")  # what these scripts see
    clock: Clock = CLOCK
    run: Run = run

    def is_mounted(self, path: Path) -> bool:
        """Whether the node and these scripts see a mount at ``path``, by the kernel; mount's own status has been seen to lie."""
        return _lists(self.host_mounts, path) and _lists(self.own_mounts, path)


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


def _lists(mounts: Path, path: Path) -> bool:
    return str(path) in (line.split()[4] for line in mounts.read_text().splitlines())


def _write_line(mount: Mount, system: System) -> None:
    """Have one line for the mount's folder in fstab, a unit that tries again at boot, and a slurmd that waits for the mount."""
    lines = system.fstab.read_text(errors="surrogateescape").splitlines() if system.fstab.exists() else []
    others = [line for line in lines if line.lstrip().startswith("#") or line.split()[1:2] != [str(mount.path)]]
    service = f"{mount.path.name}-mounted.service"
    changed = put(system.fstab, "\n".join([*others, mount.line]) + "\n")
    changed |= put(system.units / service, unit(mount.path))
    changed |= put(system.units / "slurmd.service.d" / f"{mount.path.name}.conf", slurmd_drop_in(mount.path))
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


def slurmd_drop_in(path: Path) -> str:
    """Return the drop-in that keeps slurmd from running without the mount: jobs would write to the root volume.

    RequiresMountsFor= is not used: where the first try at boot fails, systemd drops slurmd's start for good. A check before the
    start fails the start, and systemd tries again. mountinfo is read because a look at a dead mount hangs.
    """
    return f"""# Written by the lifecycle scripts.
[Unit]
Wants={mount_unit(path)}
After={mount_unit(path)}

[Service]
ExecStartPre=/bin/grep --quiet " {path} " /proc/self/mountinfo
"""


def mount_unit(path: Path) -> str:
    """Return the unit that systemd generates from the line in fstab, as `systemd-escape --path` names it."""
    text = str(path).strip("/")
    characters = ("-" if c == "/" else c if c.isalnum() or c in ":_." else f"\\x{ord(c):02x}" for c in text)
    return f"{''.join(characters)}.mount"


def _try(mount: Mount, system: System) -> None:
    """Have systemd mount it; an error carries the output of mount from the journal."""
    path, unit = mount.path, mount_unit(mount.path)
    try:
        if not _lists(system.host_mounts, path):
            system.run("systemctl", "start", unit, timeout_s=UNIT_WITHIN_S)
    except NodeError as error:
        said = _journal(unit, system)
        system.run("systemctl", "reset-failed", unit)  # else its limit of starts refuses the next try
        raise NodeError(f"{error}; mount said: {said}") from None
    if not _lists(system.host_mounts, path):
        raise NodeError(f"`systemctl start {unit}` ended with status 0 but mounted nothing; mount said: {_journal(unit, system)}")
    if not _lists(system.own_mounts, path):
        system.run("mount", str(path), timeout_s=UNIT_WITHIN_S)  # in a namespace that gets no mounts of the node's


def _journal(unit: str, system: System) -> str:
    """Return what mount and its helper printed in the unit's last try."""
    system.run("journalctl", "--sync")  # their last words may be under way
    last_try = system.run("systemctl", "show", "--property=InvocationID", "--value", unit).strip()
    wanted = ("--identifier", "mount", f"_SYSTEMD_INVOCATION_ID={last_try}")
    return last_lines(system.run("journalctl", *wanted, "--output", "cat", "--no-pager"))


def _probe(path: Path, node: str, run: Run) -> None:
    """Write a file, read it back and remove it, by a program: one that hangs on a dead mount can be given up."""
    run("/usr/bin/python3", "-I", "-B", write_probe.__file__, str(path), node)
