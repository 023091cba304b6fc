"""The machine as the checks see it: facts, files below a root, programs through one door. A test hands them another one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.precheck.facts import Facts
    from hyperpod_node.shell import Run

FOLDERS = ("opt/slurm/bin", "usr/local/bin", "usr/bin", "bin", "usr/sbin", "sbin")
# Where a node's fast local disk is; the larger machines' first. Containers belong there, not on the small root disk.
LOCAL_DISKS = (Path("/opt/sagemaker"), Path("/opt/dlami/nvme"))


@dataclass(frozen=True)
class Mount:
    """One line of /proc/mounts."""

    source: str
    path: Path
    kind: str


@dataclass(frozen=True)
class Machine:
    """This node."""

    facts: Facts
    run: Run
    root: Path = Path("/")

    def has(self, program: str) -> bool:
        """Tell whether ``program`` is installed."""
        return any(os.access(self.root / folder / program, os.X_OK) for folder in FOLDERS)

    def text(self, path: str) -> str | None:
        """The text of a file, None where there is none, an error where this user may not read it."""
        try:
            return (self.root / path.lstrip("/")).read_text()
        except FileNotFoundError:
            return None
        except PermissionError:
            raise NodeError(f"{path} may not be read by this user") from None

    def mounts(self) -> list[Mount]:
        """What is mounted."""
        lines = (line.split() for line in (self.text("/proc/mounts") or "").splitlines())
        return [Mount(source, Path(path), kind) for source, path, kind, *_ in lines]

    def mount_of(self, path: Path) -> Mount | None:
        """The innermost mount that ``path`` lies on, links followed."""
        path = Path("/") / (self.root / path.relative_to("/")).resolve().relative_to(self.root.resolve())
        around = [mount for mount in self.mounts() if path == mount.path or mount.path in path.parents]
        # The later of two mounts at one place hides the earlier.
        return max(enumerate(around), key=lambda found: (len(found[1].path.parts), found[0]))[1] if around else None

    def local_disks(self) -> list[Path]:
        """The fast local disks that are mounted."""
        mounted = {mount.path for mount in self.mounts()}
        return [path for path in LOCAL_DISKS if path in mounted]
