"""The embedded AWS as a background process: start, find and stop it."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from local_aws.credentials import CONTROL_HEADER, OWNER, Owner
from local_aws.environment import PROJECT, shielded_environment
from local_aws.process_start import born

_START_S, _END_S = 60.0, 15.0
_OWNER_ONLY = 0o700


class ProcessError(Exception):
    """The process cannot be started or used; the text says why and what to do."""


@dataclass(frozen=True)
class State:
    """A running embedded AWS. ``born`` distinguishes its process from a later one with the same pid."""

    pid: int
    born: str
    port: int
    speed: float
    owner: Owner

    @property
    def endpoint(self) -> str:
        """Return its endpoint."""
        return f"http://127.0.0.1:{self.port}"


def home() -> Path:
    """Return the folder for all files of a running embedded AWS; create it if needed."""
    named = os.environ.get("LOCAL_AWS_HOME")
    folder = Path(named or PROJECT / ".local_aws").resolve()
    folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    found = folder.stat()
    if not named and found.st_uid == os.geteuid() and found.st_mode & 0o077:  # an earlier release created it
        folder.chmod(_OWNER_ONLY)
    return folder


def status() -> State | None:
    """Return the running embedded AWS, or None."""
    try:
        fields = json.loads(_state_file().read_text())
        state = State(**{**fields, "owner": Owner(**fields["owner"])})
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None
    except PermissionError as error:
        raise ProcessError(f"{error.filename}: permission denied; run this as the user who started the embedded AWS") from error
    return state if born(state.pid) == state.born else None


def up(port: int = 0, speed: float | None = None, *, nodes: bool = False) -> State:
    """Start an embedded AWS in the background, with or without simulated nodes, and return it once it responds."""
    refuse_second()
    command = [sys.executable, "-m", "local_aws", "serve", "--port", str(port)]
    if speed:
        command += ["--speed", str(speed)]
    if nodes:
        command.append("--nodes")
    with _private(log_file()) as log:
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=shielded_environment("us-west-2", home()),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # a Ctrl-C in the terminal that started it does not reach it
        )
    return _wait_until_up(process)


def refuse_second() -> None:
    """Raise an error if one is already running: a second one would hide it, and it would never be stopped."""
    running = status()
    if running:
        raise ProcessError(f"the embedded AWS is already running at {running.endpoint}; stop it with `python -m local_aws down`")


@contextmanager
def sole() -> Iterator[None]:
    """Be the only embedded AWS with this home for the block; raise an error if one is running, starting or being cleared."""
    refuse_second()
    with (home() / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ProcessError("an embedded AWS is starting or stopping here; try again in a minute") from None
        yield


def down() -> bool:
    """Stop the running embedded AWS with all its processes; return whether there was one."""
    state = status()
    if state is None:
        return False
    _end(state, signal.SIGTERM, _END_S)
    _end(state, signal.SIGKILL, _END_S)  # its functions' processes end when their stdin closes
    if status() is None:
        _state_file().unlink(missing_ok=True)
    return True


def _end(state: State, number: signal.Signals, seconds: float) -> None:
    """Send a signal, and wait for the end of the process."""
    end = time.monotonic() + seconds
    with suppress(ProcessLookupError):
        if born(state.pid) == state.born:
            os.kill(state.pid, number)
    while born(state.pid) == state.born and time.monotonic() < end:
        time.sleep(0.05)


def reset() -> None:
    """Delete everything in the running embedded AWS."""
    state = status()
    if state is None:
        raise ProcessError("no embedded AWS is running; start one with `python -m local_aws up`")
    _ask(state, "reset", method="POST")


def ask(path: str, method: str = "GET", body: object = None) -> Any:
    """Return the response of the running embedded AWS at a control path; None for an unknown path."""
    state = status()
    if state is None:
        raise ProcessError("no embedded AWS is running; start one with `python -m local_aws up`")
    try:
        return _ask(state, path, method, body)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def note(port: int, speed: float) -> None:
    """Record that this process is the embedded AWS on ``port``."""
    state = State(os.getpid(), born(os.getpid()), port, speed, OWNER)
    temporary = _state_file().with_suffix(".new")
    with _private(temporary) as file:
        file.write(json.dumps(asdict(state)))
    temporary.replace(_state_file())


def log_file() -> Path:
    """Return the file with the background process's output."""
    return home() / "server.log"


def _state_file() -> Path:
    return home() / "state.json"


def _private(path: Path) -> TextIO:
    """Open a new file at ``path`` that only this user can read, in place of an existing one."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")


def _wait_until_up(process: subprocess.Popen[bytes]) -> State:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise ProcessError(f"the embedded AWS ended while starting: {_last_line()}; see {log_file()}")
        state = status()
        if state and state.pid == process.pid:
            _ask(state, "health")
            return state
        time.sleep(0.05)
    process.kill()
    raise ProcessError(f"the embedded AWS did not start within {_START_S:.0f} s; see {log_file()}")


def _last_line() -> str:
    lines = log_file().read_text().strip().splitlines()
    return lines[-1] if lines else "no output"


def _ask(state: State, path: str, method: str = "GET", body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    url, headers = f"{state.endpoint}/_local_aws/{path}", {CONTROL_HEADER: state.owner.control_token}
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310  http, on loopback
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as answer:
        return json.load(answer)
