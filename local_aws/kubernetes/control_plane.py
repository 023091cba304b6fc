"""Start and stop a control plane: etcd, API server, controller manager and scheduler, on loopback."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from local_aws.builds import relay
from local_aws.kubernetes import guardian, support
from local_aws.kubernetes.client import Client
from local_aws.kubernetes.commands import API_SERVER, CONTROLLER_MANAGER, ETCD, SCHEDULER, Commands, Ports
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import store

__all__ = ["ControlPlane", "KubernetesError", "start"]

_START_S, _END_S, _POLL_S = 120.0, 10.0, 0.1
_ANSWER_S = 5.0  # a process that took the port may never answer
_TAIL_LINES = 10
_PORT_TAKEN = "address already in use"
_SERVICE_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"


class _PortTakenError(KubernetesError):
    """Another process took a free port before a program did."""


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane. Its processes end with the process that started it, however that ends.

    ``endpoint`` is for people and functions; the embedded AWS and nodes use the administrator's client's.
    """

    endpoint: str
    certificate_authority: str
    folder: Path
    _admin: Client = field(repr=False)
    _guardian: "subprocess.Popen[bytes]" = field(repr=False)
    _listener: socket.socket | None = field(default=None, repr=False)

    def admin_client(self) -> Client:
        """Return a client of the group system:masters, for the embedded AWS only."""
        return self._admin

    @property
    def kubeconfig(self) -> Path:
        """Return the kubeconfig of that client."""
        return self.folder / "admin.kubeconfig"

    def stop(self) -> None:
        """End all processes and remove the folder; safe to repeat."""
        if self._listener and self._listener.fileno() >= 0:
            relay.close(self._listener)
        _end(self._guardian, self.folder)


def start(
    name: str,
    folder: Path,
    *,
    token_webhook: str,
    authorization_webhook: str | None = None,
    admits: Callable[[str], bool] | None = None,
) -> ControlPlane:
    """Start a control plane with its files in ``folder``, a new one, and return it when it can be used.

    The API server asks the URL ``token_webhook`` who a token is, and ``authorization_webhook``, before RBAC, what a user may do.
    With ``admits``, the endpoint closes connections from addresses for which it returns False.
    """
    programs = store.find(store.CONTROL_PLANE)
    reasons = support.missing()
    if programs is None or reasons:
        raise KubernetesError("; ".join(reasons))
    folder = folder.resolve()  # the guardian runs in another folder
    try:
        plane = _start(name, folder, programs, token_webhook, authorization_webhook)
    except _PortTakenError:
        plane = _start(name, folder, programs, token_webhook, authorization_webhook)
    return _guarded(plane, admits) if admits else plane


def _guarded(plane: ControlPlane, admits: Callable[[str], bool]) -> ControlPlane:
    """Return the control plane with an endpoint that chooses its callers."""
    server = urlsplit(plane.endpoint)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    relay.serve(
        listener,
        lambda: socket.create_connection((server.hostname, server.port), _ANSWER_S),
        lambda peer: admits(_caller(peer)),
    )
    return replace(plane, endpoint=f"https://127.0.0.1:{listener.getsockname()[1]}", _listener=listener)


def _caller(peer: socket.socket) -> str:
    """Return the address of a connection's other end; nothing if that has already closed it."""
    try:
        return str(peer.getpeername()[0])
    except OSError:
        return ""


def _start(name: str, folder: Path, programs: Path, token_webhook: str, authorization_webhook: str | None) -> ControlPlane:
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise KubernetesError(f"{folder}: not empty; delete it, or name another folder")
    folder.chmod(0o700)
    try:
        return _run_all(name, folder, programs, token_webhook, authorization_webhook)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # it may hold private keys
        raise


def _run_all(name: str, folder: Path, programs: Path, token_webhook: str, authorization_webhook: str | None) -> ControlPlane:
    store.note_use(programs)
    commands = Commands(name, folder, programs, _free_ports())
    admin = Client(commands.endpoint, commands.authority, commands.admin.certificate, commands.admin.key)
    process = _start_guardian(folder)
    try:
        _run(process, ETCD, commands.etcd())
        _run(process, API_SERVER, commands.api_server(token_webhook, authorization_webhook))
        _wait(process, admin, "/readyz", folder, API_SERVER)
        _run(process, CONTROLLER_MANAGER, commands.controller_manager())
        _run(process, SCHEDULER, commands.scheduler())
        _wait(process, admin, _SERVICE_ACCOUNT, folder, CONTROLLER_MANAGER)
    except BaseException:
        _end(process, folder)
        raise
    return ControlPlane(commands.endpoint, commands.authority.read_text(), folder, admin, process)


def _free_ports() -> Ports:
    """Return ports that the kernel names; another process may take one before a program does."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        return Ports(*(each.getsockname()[1] for each in sockets))


def _start_guardian(folder: Path) -> "subprocess.Popen[bytes]":
    guardian.log_of(folder, "guardian").parent.mkdir()
    # No proxies and no settings of Go reach the programs. etcd 3.4 refuses to run on arm64 without its variable.
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "ETCD_UNSUPPORTED_ARCH": "arm64"}
    with guardian.log_of(folder, "guardian").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-B", "-m", guardian.__name__, str(folder)],
            cwd=Path(__file__).parents[2],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches only its owner
        )


def _run(process: "subprocess.Popen[bytes]", name: str, command: list[str]) -> None:
    assert process.stdin is not None  # noqa: S101  for the type checker: it is a pipe
    with contextlib.suppress(BrokenPipeError):  # _wait notices that the guardian has ended
        process.stdin.write(json.dumps([name, *command]).encode() + b"\n")
        process.stdin.flush()


def _wait(process: "subprocess.Popen[bytes]", admin: Client, path: str, folder: Path, program: str) -> None:
    """Wait until the API server has ``path``; ``program`` is to blame if that never happens."""
    end, asking = time.monotonic() + _START_S, replace(admin, timeout_s=_ANSWER_S)
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if asking.call("GET", path).status == 200:
                return
        _check(folder)
        if process.poll() is not None:
            raise KubernetesError(f"the guardian of the control plane ended with status {process.returncode}; start again")
        time.sleep(_POLL_S)
    raise KubernetesError(f"{program} was not ready within {_START_S:.0f} s; its last lines:\n{_tail(folder, program)}")


def _check(folder: Path) -> None:
    """Raise KubernetesError if a program has ended."""
    try:
        note = guardian.ended_file(folder).read_text()
    except FileNotFoundError:
        return
    program = note.split()[0]
    kind = _PortTakenError if _PORT_TAKEN in _log(folder, program) else KubernetesError
    raise kind(f"{note}; its last lines:\n{_tail(folder, program)}")


def _tail(folder: Path, program: str) -> str:
    return "\n".join(_log(folder, program).splitlines()[-_TAIL_LINES:])


def _log(folder: Path, program: str) -> str:
    file = guardian.log_of(folder, program)
    return file.read_text(errors="replace") if file.exists() else ""


def _end(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    if process.stdin:
        with contextlib.suppress(BrokenPipeError):  # the guardian was killed
            process.stdin.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()  # the kernel kills its programs
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)
