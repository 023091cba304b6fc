"""Manage daemons through systemd: run, restart and mask them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hyperpod_node.system import System

UNITS, DROP_IN = Path("/etc/systemd/system"), "hyperpod-cdk.conf"
STARTED_WITH = Path("/var/lib/hyperpod-cdk")
SECRET = 0o600  # the hash of slurmdbd.conf would let users test passwords
SERVICE = """\
[Unit]
Description={description}

[Service]
{lines}

[Install]
WantedBy=multi-user.target
"""


def ensure_running(unit: str, files: Iterable[Path], system: System) -> bool:
    """Run ``unit`` now and at every boot; restart it if ``files`` have changed since its start. Return whether it was."""
    state = _state(unit, system)
    _enable(unit, state, system)
    record, digest = system.path(STARTED_WITH / f"{unit}.started-with"), _digest(files)
    if state.active == "active" and record.exists() and record.read_text() == digest:
        return False
    if state.active == "failed":
        system.run("systemctl", "reset-failed", unit)  # otherwise the start limit may refuse this start
    system.run("systemctl", "restart", unit, timeout_s=120)
    put(record, digest, mode=SECRET)
    return True


def _enable(unit: str, state: _State, system: System) -> None:
    """Enable ``unit`` at boot, with its current definition."""
    if state.enabled.startswith("masked"):
        system.run("systemctl", "unmask", unit)
    if state.enabled != "enabled":
        # Like `enable` for these units, without its SysV scripts, which take half a second each.
        system.run("systemctl", "--no-reload", "add-wants", "multi-user.target", unit)
    if state.enabled != "enabled" or state.needs_reload == "yes":
        system.run("systemctl", "daemon-reload")


def was_started(unit: str, system: System) -> bool:
    """Return whether these scripts have started ``unit`` on this node before."""
    return system.path(STARTED_WITH / f"{unit}.started-with").exists()


def is_images(unit: str, system: System) -> bool:
    """Return whether HyperPod's image runs ``unit``, now or later: it is enabled or active, and not by these scripts."""
    state, is_ours = _state(unit, system), system.path(UNITS / f"{unit}.service.d" / DROP_IN).exists()
    return not is_ours and (state.enabled.startswith("enabled") or state.active in ("active", "activating"))


def is_active(unit: str, system: System) -> bool:
    """Return whether ``unit`` runs."""
    return _state(unit, system).active == "active"


def record_files(unit: str, files: Iterable[Path], system: System) -> None:
    """Record that ``unit`` has read the current ``files``."""
    put(system.path(STARTED_WITH / f"{unit}.started-with"), _digest(files), mode=SECRET)


def mask(unit: str, system: System) -> None:
    """Stop and mask ``unit``. systemd cannot mask a unit file in its own folder, where HyperPod's are, so rename it."""
    state = _state(unit, system)
    if state.enabled.startswith("masked") or state.load == "not-found":
        return
    if state.active != "inactive":
        system.run("systemctl", "stop", unit)
    file = system.path(UNITS / f"{unit}.service")
    if file.exists() and not file.is_symlink():
        file.rename(file.with_name(f"{file.name}.not-on-this-node"))
    system.run("systemctl", "mask", unit)


def provide(unit: str, description: str, lines: str, system: System) -> None:
    """Write a unit that the image lacks, with ``lines`` in its section [Service]."""
    if _state(unit, system).load == "not-found":
        put(system.path(UNITS / f"{unit}.service"), SERVICE.format(description=description, lines=lines))
        system.run("systemctl", "daemon-reload")


def drop_in(unit: str, content: str, system: System) -> Path:
    """Write a drop-in for ``unit`` and return its file; ``ensure_running`` reloads systemd."""
    path = system.path(UNITS / f"{unit}.service.d" / DROP_IN)
    put(path, content)
    return path


def command_of(unit: str, system: System) -> str:
    """Return the ExecStart of ``unit`` without our drop-in; a later file's counts."""
    if _state(unit, system).enabled.startswith("masked"):  # then it has no file
        system.run("systemctl", "unmask", unit)
    shown = _show(unit, system, "FragmentPath", "DropInPaths")
    paths = [shown.get("FragmentPath", ""), *shown.get("DropInPaths", "").split()]
    files = [system.path(path) for path in paths if path and Path(path).name != DROP_IN]
    text = "\n".join(file.read_text() for file in files).replace("\\\n", " ")
    found = re.findall(r"^ExecStart=[ \t]*(\S.*)$", text, re.MULTILINE)
    if not found:
        raise NodeError(f"{unit}.service: no ExecStart in {' '.join(paths).strip() or 'any file'}; use an image of HyperPod")
    return str(found[-1]).strip()


def command_line(unit: str, system: System) -> list[str]:
    """Return the command line of the process of ``unit``; if it has none now, of what systemd starts, with variables."""
    shown = _show(unit, system, "MainPID", "ExecStart")
    try:
        return system.path(f"/proc/{shown.get('MainPID', '0')}/cmdline").read_text().rstrip("\0").split("\0")
    except OSError:  # no process, or it has just ended
        return shown.get("ExecStart", "").partition("argv[]=")[2].partition(" ; ")[0].split()


def wait_for(unit: str, what: str, attempt: Callable[[], None], timeout_s: float, system: System) -> None:
    """Retry ``attempt``; after the timeout, add the journal of ``unit`` to the error."""
    try:
        system.retry(what, attempt, timeout_s, first_pause_s=0.1)
    except NodeError as error:
        raise NodeError(f"{error}; the journal of {unit}: {journal(unit, system)}") from None


def journal(unit: str, system: System, lines: int = 4) -> str:
    """Return the last lines of the journal of ``unit`` as one line."""
    try:
        output = system.run("journalctl", "--unit", unit, "--lines", str(lines), "--output", "cat", "--no-pager")
    except NodeError as error:
        return str(error)
    return " | ".join(line.strip() for line in output.splitlines() if line.strip()) or "the journal is empty"


class _State(NamedTuple):
    """The state of a unit in systemd."""

    load: str
    active: str
    enabled: str
    needs_reload: str


def _state(unit: str, system: System) -> _State:
    names = ("LoadState", "ActiveState", "UnitFileState", "NeedDaemonReload")
    shown = _show(unit, system, *names)
    return _State(*(shown.get(name, "") for name in names))


def _show(unit: str, system: System, *properties: str) -> dict[str, str]:
    output = system.run("systemctl", "show", f"--property={','.join(properties)}", unit)
    return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\0".encode() + (file.read_bytes() if file.exists() else b"absent") + b"\0")
    return digest.hexdigest()
