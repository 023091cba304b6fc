"""Run a builder with its output in a log."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

TAIL_LINES = 30


class BuilderError(Exception):
    """A builder failed; the message has its status and the end of its log."""


def run(command: Sequence[str], log: Path, without: tuple[str, ...], read: Callable[[str], None]) -> None:
    """Run ``command`` without environment variables that start like ``without``, write its output to ``log``, and ``read`` it."""
    with (
        log.open("w") as written,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={name: value for name, value in os.environ.items() if not name.startswith(without)},
        ) as builder,
    ):
        try:
            for line in builder.stdout or ():
                written.write(line)
                written.flush()
                read(line)
        except BaseException:  # such as Ctrl-C: nothing may write into a folder that the caller removes
            builder.kill()
            raise
    if builder.returncode:
        raise BuilderError(f"ended with status {builder.returncode}; the end of {log}:\n{tail(log.read_text())}")


def tail(text: str) -> str:
    """Return the last lines."""
    return "\n".join(text.splitlines()[-TAIL_LINES:])
