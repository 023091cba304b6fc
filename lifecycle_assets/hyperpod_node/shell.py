"""Run programs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from typing import IO, TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol
else:
    Protocol = object  # Python 3.7, which Amazon Linux 2 has, lacks it

LINES_IN_AN_ERROR = 5
CHARACTERS_IN_AN_ERROR = 1000


class Run(Protocol):
    """The signature of ``run``; tests provide another implementation."""

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
        """Run ``program`` and return its output."""


def run(
    program: str,
    *arguments: str,
    timeout_s: float = 60,
    stdin: str | None = None,
    environment: Mapping[str, str] | None = None,
    show: bool = False,
    with_errors: bool = False,
) -> str:
    """Run ``program`` and return its output; an error has the command and the last lines of its output.

    Pass secrets in ``stdin`` or ``environment``, never in ``arguments``: these appear in the process list and in errors.
    ``show`` logs each line of stdout and stderr as it is printed; ``with_errors`` adds stderr to the returned output.
    """
    command = " ".join([program, *arguments])
    try:
        process = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if show else subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # so that a timeout also ends the program's children
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise NodeError(f"`{command}`: no such program") from None
    except OSError as error:
        raise NodeError(f"cannot start `{command}`: {error.strerror}") from None
    try:
        out, err = _stream(process, stdin, timeout_s) if show else process.communicate(stdin, timeout_s)
    except subprocess.TimeoutExpired:
        _kill(process)
        if not show:  # otherwise the reader closes them
            _close(process)
        raise NodeError(f"`{command}` did not end within {timeout_s:g} s") from None
    if process.returncode:
        raise NodeError(f"`{command}` ended with status {process.returncode}: {last_lines(err or out)}")
    return out + err if with_errors else out


def last_lines(output: str) -> str:
    """Return the last lines of ``output`` as one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " | ".join(lines[-LINES_IN_AN_ERROR:])[-CHARACTERS_IN_AN_ERROR:] or "no output"


def _stream(process: subprocess.Popen[str], stdin: str | None, timeout_s: float) -> tuple[str, str]:
    """Print the output of ``process`` while it runs and return its last lines; do not wait for its children."""
    last: deque[str] = deque(maxlen=LINES_IN_AN_ERROR)
    if process.stdin and stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # the program may exit before it has read everything
            process.stdin.write(stdin)
            process.stdin.close()
    reader = threading.Thread(target=_read, args=(process.stdout, last), daemon=True)
    reader.start()
    process.wait(timeout_s)
    reader.join(timeout=1)
    return "\n".join(last), ""


def _read(output: IO[str], last: deque[str]) -> None:
    with output:
        for line in output:
            last.append(line.rstrip("\n"))
            print(last[-1], flush=True)


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the program and its children; do not wait for a process that hangs in the kernel."""
    os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        print(f"cannot kill process {process.pid}: it hangs in the kernel, probably on a dead mount")


def _close(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            with contextlib.suppress(OSError):  # unwritten input of a killed program
                stream.close()
