"""The node that is checked: the facts that the lifecycle scripts save, and its mounts and files read through System."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object, required
from hyperpod_node.managed_file import put
from hyperpod_node.system import CODE, System

FACTS_FILE = CODE / "node.json"
VERSION = 1
FOLDERS = ("opt/slurm/bin", "usr/local/bin", "usr/bin", "bin", "usr/sbin", "sbin")
# The mount points of fast local disks. Containers belong there, not on the small root disk.
LOCAL_DISKS = (Path("/opt/sagemaker"), Path("/opt/dlami/nvme"))


@dataclass(frozen=True)
class Facts:
    """The role and the expected configuration of this node."""

    node: str
    role: str
    instance_type: str
    gpus: int
    file_system: bool  # FSx for Lustre at /fsx
    homes: str | None  # the shared folder of home directories; None: homes are local
    users: tuple[str, ...]  # whose homes belong there

    @classmethod
    def load(cls, path: Path = FACTS_FILE) -> Facts:
        """Return the facts that ``save`` wrote."""
        try:
            content = load_object(path)
        except NodeError as error:
            raise NodeError(f"{error}; the lifecycle scripts write it: run hyperpod-precheck on a node of the cluster") from None
        if required(content, "version", path) != VERSION:
            raise NodeError(f"{path} has version {content['version']!r}; this program reads version {VERSION}")
        known = {name: required(content, name, path) for name in cls.__annotations__}
        return cls(**{**known, "users": tuple(known["users"])})

    def save(self, path: Path = FACTS_FILE) -> None:
        """Write the facts to a file that every user can read."""
        put(path, json.dumps({"version": VERSION, **asdict(self)}, indent=2) + "\n")


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
