"""The node that is checked: its facts, and its mounts and files read through System."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.precheck.facts import Facts
    from hyperpod_node.system import System

FOLDERS = ("opt/slurm/bin", "usr/local/bin", "usr/bin", "bin", "usr/sbin", "sbin")
# The mount points of fast local disks. Containers belong there, not on the small root disk.
LOCAL_DISKS = (Path("/opt/sagemaker"), Path("/opt/dlami/nvme"))


@dataclass(frozen=True)
class Mount:
    """One line of /proc/mounts."""

    source: str
    path: Path
    kind: str


@dataclass(frozen=True)
class CheckedNode:
    """This node."""

    facts: Facts
    system: System

    def has(self, program: str) -> bool:
        """Return whether ``program`` is installed."""
        return any(os.access(self.system.path(folder) / program, os.X_OK) for folder in FOLDERS)

    def text(self, path: str) -> str | None:
        """Return the text of a file, or None if it does not exist."""
        try:
            return self.system.path(path).read_text()
        except FileNotFoundError:
            return None
        except PermissionError:
            raise NodeError(f"cannot read {path} as this user") from None

    def state_of(self, unit: str) -> str:
        """Return the state of ``unit``: active, inactive, failed, ... with the reason of a failure."""
        # unlike `is-active`, `show` always exits with status 0
        shown = self.system.run("systemctl", "show", "-p", "LoadState,ActiveState,Result", unit)
        values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
        if values.get("LoadState") in {"not-found", "masked"}:
            return values["LoadState"]
        state, result = values.get("ActiveState", "unknown"), values.get("Result", "success")
        return state if state == "active" or result == "success" else f"{state} ({result})"

    def mounts(self) -> list[Mount]:
        """Return all mounts."""
        lines = (line.split() for line in (self.text("/proc/mounts") or "").splitlines())
        return [Mount(source, Path(path), kind) for source, path, kind, *_ in lines]

    def mount_of(self, path: Path) -> Mount | None:
        """Return the mount that ``path`` is on, with links resolved."""
        path = Path("/") / self.system.path(path).resolve().relative_to(self.system.root.resolve())
        around = [mount for mount in self.mounts() if path == mount.path or mount.path in path.parents]
        # A later mount at the same path hides an earlier one.
        return max(enumerate(around), key=lambda found: (len(found[1].path.parts), found[0]))[1] if around else None

    def local_disks(self) -> list[Path]:
        """Return the fast local disks that are mounted."""
        mounted = {mount.path for mount in self.mounts()}
        return [path for path in LOCAL_DISKS if path in mounted]
