"""Mount network file systems through systemd, and prove that they are writable.

HyperPod may run these scripts in a separate mount namespace, whose mounts are invisible to the rest of the node:
https://github.com/awslabs/awsome-distributed-ai/pull/682
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import write_probe
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.shell import last_lines

if TYPE_CHECKING:
    from hyperpod_node.system import System

TIMEOUT_S = 300
NODES_A_SECOND = 100
UNIT_TIMEOUT_S = 100  # systemd gives up a mount after 90 s
FSTAB = Path("/etc/fstab")
UNITS = Path("/etc/systemd/system")
UNITS_UNTIL_REBOOT = Path("/run/systemd/system")
HOST_MOUNTS = Path("/proc/1/mountinfo")  # what services and jobs see
OWN_MOUNTS = Path("/proc/self/mountinfo")  # what these scripts see
# In the journal, lines of a process that ended before journald looked it up lack their unit; systemd.exec(5) holds for mounts.
MOUNT_DROP_IN = """# Written by the lifecycle scripts.
[Mount]
StandardOutput=append:{output}
StandardError=inherit
"""


@dataclass(frozen=True)
class FstabEntry:
    """A line of /etc/fstab."""

    source: str
    path: Path
    kind: str
    options: str

    @property
    def line(self) -> str:
        """Return the text of the line."""
        return f"{self.source} {self.path} {self.kind} {self.options} 0 0"


def mount(entry: FstabEntry, *, node: str, nodes: int, system: System) -> None:
    """Mount ``entry`` now and at every boot, and prove that ``node`` can write to it; do nothing if it is mounted already.

    All nodes of a cluster mount at once, and 400 clients per second can cause temporary errors. So the first attempt comes after
    a random delay that grows with the cluster.
    """
    retry = partial(system.retry, timeout_s=TIMEOUT_S, is_outside=True)
    _configure(entry, system)
    if not is_mounted(entry.path, system):
        system.path(entry.path).mkdir(parents=True, exist_ok=True)
        system.clock.sleep(system.clock.random() * nodes / NODES_A_SECOND)
        retry(f"{entry.source} at {entry.path}", lambda: _try(entry, system))
    retry(f"writing to {entry.path}", lambda: _probe(entry.path, node, system))


def require(path: Path, *, node: str, system: System) -> None:
    """Wait until HyperPod has mounted ``path``, prove that ``node`` can write to it, and keep slurmd waiting for it at boot."""
    retry = partial(system.retry, timeout_s=TIMEOUT_S, is_outside=True)
    put(system.path(UNITS) / "slurmd.service.d" / f"{path.name}.conf", f"# Written by the lifecycle scripts.\n{_guard(path)}")
    retry(f"HyperPod's mount at {path}", lambda: _require(path, system), longest_pause_s=1)
    retry(f"writing to {path}", lambda: _probe(path, node, system))


def _require(path: Path, system: System) -> None:
    """Raise unless HyperPod has mounted ``path``; mount it for these scripts if their mount namespace does not receive it."""
    found = [line.split() for line in system.path(HOST_MOUNTS).read_text().splitlines() if line.split()[4] == str(path)]
    if not found:
        raise NodeError(f"nothing is mounted at {path}; HyperPod mounts it: see its log on this node")
    if not lists(OWN_MOUNTS, path, system):
        kind, source, *_ = found[-1][found[-1].index("-") + 1 :]
        system.run("mount", "-t", kind, source, str(path), timeout_s=UNIT_TIMEOUT_S)


def is_mounted(path: Path, system: System) -> bool:
    """Return whether both the node and these scripts see a mount at ``path``; the exit status of mount is not reliable."""
    return lists(HOST_MOUNTS, path, system) and lists(OWN_MOUNTS, path, system)


def lists(mounts: Path, path: Path, system: System) -> bool:
    """Return whether the mounts in a file such as HOST_MOUNTS have one at ``path``."""
    return str(path) in (line.split()[4] for line in system.path(mounts).read_text().splitlines())


def _configure(entry: FstabEntry, system: System) -> None:
    """Write the line in fstab, a unit that retries at boot, and drop-ins: for slurmd, and for the output of mount."""
    fstab, units = system.path(FSTAB), system.path(UNITS)
    lines = fstab.read_text(errors="surrogateescape").splitlines() if fstab.exists() else []
    others = [line for line in lines if line.lstrip().startswith("#") or line.split()[1:2] != [str(entry.path)]]
    service = f"{entry.path.name}-mounted.service"
    changed = put(fstab, "\n".join([*others, entry.line]) + "\n")
    changed |= put(units / service, unit(entry.path))
    changed |= put(units / "slurmd.service.d" / f"{entry.path.name}.conf", slurmd_drop_in(entry.path))
    drop_in = system.path(UNITS_UNTIL_REBOOT) / f"{mount_unit(entry.path)}.d" / "hyperpod-cdk.conf"
    changed |= put(drop_in, MOUNT_DROP_IN.format(output=output_of(entry.path)))
    if changed:
        system.run("systemctl", "enable", service)  # this also reloads systemd, which generates mount units from fstab


def unit(path: Path) -> str:
    """Return the unit that retries a mount that failed at boot; systemd tries each line of fstab only once."""
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
    """Return the drop-in that keeps slurmd from starting without the mount: jobs would write to the root volume.

    With RequiresMountsFor=, systemd would cancel the start of slurmd for good when the first attempt to mount at boot fails.
    ExecStartPre fails the start instead, and systemd retries. It reads mountinfo because accessing a dead mount hangs.
    """
    return f"""# Written by the lifecycle scripts.
[Unit]
Wants={mount_unit(path)}
After={mount_unit(path)}

{_guard(path)}"""


def output_of(path: Path) -> Path:
    """Return the file with what mount and its helper print about ``path``."""
    return Path(f"/run/hyperpod-mount-{path.name}.log")


def _guard(path: Path) -> str:
    """Return the section that fails the start of slurmd without the mount."""
    return f"""[Service]
ExecStartPre=/bin/grep --quiet " {path} " /proc/self/mountinfo
"""


def mount_unit(path: Path) -> str:
    """Return the unit that systemd generates from the line in fstab, as `systemd-escape --path` names it."""
    text = str(path).strip("/")
    characters = ("-" if c == "/" else c if c.isalnum() or c in ":_." else f"\\x{ord(c):02x}" for c in text)
    return f"{''.join(characters)}.mount"


def _try(entry: FstabEntry, system: System) -> None:
    """Have systemd mount ``entry``; add mount's output to an error."""
    path, unit, output = entry.path, mount_unit(entry.path), system.path(output_of(entry.path))
    put(output, "", mode=0o600)
    try:
        if not lists(HOST_MOUNTS, path, system):
            system.run("systemctl", "start", unit, timeout_s=UNIT_TIMEOUT_S)
    except NodeError as error:
        system.run("systemctl", "reset-failed", unit)  # otherwise its start limit refuses the next attempt
        raise NodeError(f"{error}; output of mount: {last_lines(output.read_text(errors='replace'))}") from None
    if not lists(HOST_MOUNTS, path, system):
        problem = f"`systemctl start {unit}` ended with status 0 but mounted nothing"
        raise NodeError(f"{problem}; output of mount: {last_lines(output.read_text(errors='replace'))}")
    if not lists(OWN_MOUNTS, path, system):
        system.run("mount", str(path), timeout_s=UNIT_TIMEOUT_S)  # this mount namespace does not receive the node's mounts


def _probe(path: Path, node: str, system: System) -> None:
    """Write, read and delete a file in a separate process, which can be killed if it hangs on a dead mount."""
    system.run("/usr/bin/python3", "-I", "-B", write_probe.__file__, str(system.path(path)), node)
