"""The one door to the system's programs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from typing import IO, TYPE_CHECKING, Protocol

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Mapping

LINES_IN_AN_ERROR = 5
CHARACTERS_IN_AN_ERROR = 1000


class Run(Protocol):
    """What ``run`` looks like to the steps, so that a test can hand them another one."""

    def __call__(
        self,
        program: str,
        *arguments: str,
        timeout_s: float = 60,
        stdin: str | None = None,
        environment: Mapping[str, str] | None = None,
        show: bool = False,
        with_errors: bool = False,
    ) -> str:
        """Run ``program`` and return what it printed."""


def run(
    program: str,
    *arguments: str,
    timeout_s: float = 60,
    stdin: str | None = None,
    environment: Mapping[str, str] | None = None,
    show: bool = False,
    with_errors: bool = False,
) -> str:
    """Run ``program`` and return what it printed; a failure carries the command and the last lines of its output.

    A secret goes through ``stdin`` or ``environment``, never through ``arguments``: those are in the process list and in errors.
    With ``show``, each line of both outputs appears in the log as it comes; ``with_errors`` adds what a success said on stderr.
    """
    command = " ".join([program, *arguments])
    try:
        process = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if show else subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # so that a time-out ends what the program started as well
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise NodeError(f"`{command}`: no such program") from None
    except OSError as error:
        raise NodeError(f"`{command}` cannot be started: {error.strerror}") from None
    try:
        out, err = _shown(process, stdin, timeout_s) if show else process.communicate(stdin, timeout_s)
    except subprocess.TimeoutExpired:
        _end(process)
        if not show:  # else its reader closes it
            _close(process)
        raise NodeError(f"`{command}` did not end within {timeout_s:g} s") from None
    if process.returncode:
        raise NodeError(f"`{command}` ended with status {process.returncode}: {last_lines(err or out)}")
    return out + err if with_errors else out


def last_lines(output: str) -> str:
    """The end of what a program said, as part of one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " | ".join(lines[-LINES_IN_AN_ERROR:])[-CHARACTERS_IN_AN_ERROR:] or "it said nothing"


def _shown(process: subprocess.Popen[str], stdin: str | None, timeout_s: float) -> tuple[str, str]:
    """Print what ``process`` says while it runs, and return its last lines; do not wait for what it left running."""
    said: deque[str] = deque(maxlen=LINES_IN_AN_ERROR)
    if process.stdin and stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # it may end without having read all
            process.stdin.write(stdin)
            process.stdin.close()
    reader = threading.Thread(target=_read, args=(process.stdout, said), daemon=True)
    reader.start()
    process.wait(timeout_s)
    reader.join(timeout=1)
    return "\n".join(said), ""


def _read(output: IO[str], said: deque[str]) -> None:
    with output:
        for line in output:
            said.append(line.rstrip("\n"))
            print(said[-1], flush=True)


def _end(process: subprocess.Popen[str]) -> None:
    """Kill the program and what it started; one that hangs in the kernel is left behind."""
    os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        print(f"process {process.pid} does not die; it hangs in the kernel, as a dead mount makes it")


def _close(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            with contextlib.suppress(OSError):  # what was meant for a dead program's stdin
                stream.close()
