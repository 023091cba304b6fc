"""Slurm's daemons as systemd runs them: which run on this node, with what, and which must never."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.retry import RetryPolicy, retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hyperpod_node.system import System

UNITS = Path("/etc/systemd/system")
STARTED_WITH = Path("/var/lib/hyperpod-cdk")
SECRET = 0o600  # of the hashes: slurmdbd.conf's would let others try out passwords


def ensure_running(unit: str, files: Iterable[Path], system: System) -> bool:
    """Have ``unit`` run now and at every boot; restart it where ``files`` changed since we started it. Tell whether we did."""
    state = _state(unit, system)
    _want(unit, state, system)
    mark, digest = system.path(STARTED_WITH / f"{unit}.started-with"), _digest(files)
    if state.active == "active" and mark.exists() and mark.read_text() == digest:
        return False
    if state.active == "failed":
        system.run("systemctl", "reset-failed", unit)  # so that its count of starts does not refuse this one
    system.run("systemctl", "restart", unit, timeout_s=120)
    put(mark, digest, mode=SECRET)
    return True


def _want(unit: str, state: _State, system: System) -> None:
    """Have ``unit`` start at boot, as it is defined now."""
    if state.is_masked:
        system.run("systemctl", "unmask", unit)
    if state.enabled != "enabled":
        # What `enable` does for these units, without its scripts for the run levels of old, which take half a second each.
        system.run("systemctl", "--no-reload", "add-wants", "multi-user.target", unit)
    if state.enabled != "enabled" or state.changed_on_disk:
        system.run("systemctl", "daemon-reload")


def record_files(unit: str, files: Iterable[Path], system: System) -> None:
    """Remember that ``unit`` knows ``files`` as they are now."""
    put(system.path(STARTED_WITH / f"{unit}.started-with"), _digest(files), mode=SECRET)


def mask(unit: str, system: System) -> None:
    """Mask ``unit``. systemd refuses that for a unit file in its own folder, where HyperPod's are: such a file is put aside."""
    state = _state(unit, system)
    if state.is_masked or not state.exists:
        return
    if state.active != "inactive":
        system.run("systemctl", "stop", unit)
    file = system.path(UNITS / f"{unit}.service")
    if file.exists() and not file.is_symlink():
        file.rename(file.with_name(f"{file.name}.not-on-this-node"))
    system.run("systemctl", "mask", unit)


def drop_in(unit: str, content: str, system: System) -> Path:
    """Add ``content`` to the definition of ``unit``, which ``ensure_running`` has systemd read; the file that holds it."""
    path = system.path(UNITS / f"{unit}.service.d/hyperpod-cdk.conf")
    put(path, content)
    return path


def wait_for(unit: str, what: str, attempt: Callable[[], None], policy: RetryPolicy, system: System) -> None:
    """Wait for what ``unit`` is to bring about; when policy is at its end, say what the unit complains of."""
    try:
        retry(what, attempt, policy)
    except NodeError as error:
        raise NodeError(f"{error}; the journal of {unit}: {journal(unit, system)}") from None


def journal(unit: str, system: System, lines: int = 4) -> str:
    """The last lines that ``unit`` wrote to the journal, as part of one line."""
    try:
        said = system.run("journalctl", "--unit", unit, "--lines", str(lines), "--output", "cat", "--no-pager")
    except NodeError as error:
        return str(error)
    return " | ".join(line.strip() for line in said.splitlines() if line.strip()) or "its journal is empty"


@dataclass(frozen=True)
class _State:
    """What systemd says of a unit."""

    active: str
    enabled: str
    exists: bool
    changed_on_disk: bool

    @property
    def is_masked(self) -> bool:
        return self.enabled.startswith("masked")


def _state(unit: str, system: System) -> _State:
    said = system.run("systemctl", "show", "--property=LoadState,ActiveState,UnitFileState,NeedDaemonReload", unit)
    state = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    return _State(
        active=state.get("ActiveState", ""),
        enabled=state.get("UnitFileState", ""),
        exists=state.get("LoadState") != "not-found",
        changed_on_disk=state.get("NeedDaemonReload") == "yes",
    )


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\0".encode() + (file.read_bytes() if file.exists() else b"absent") + b"\0")
    return digest.hexdigest()
