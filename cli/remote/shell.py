"""Runs commands on nodes through Session Manager, with their exit status and output."""

import base64
import os
import pty
import re
import secrets
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cli.remote.sessions import Session, SessionError, Sessions, Target

DOCUMENT = "AWS-StartNonInteractiveCommand"
TIMEOUT_S = 120.0
SLURM_PATH = "PATH=/opt/slurm/bin:/opt/slurm/sbin:$PATH"
"""The variable with Slurm's programs, which a session's shell may not find."""
PARALLEL_SESSIONS = 5
"""Sessions at a time: StartSession's rate is limited for the account."""
Item = TypeVar("Item")
Answer = TypeVar("Answer")


class ShellError(SessionError):
    """A command did not reach the node, or its end did not come back."""


@dataclass(frozen=True)
class Output:
    """The exit status and the output of a command."""

    status: int
    text: str


class Shell(Protocol):
    """Runs commands on nodes."""

    def run(self, target: Target, script: str, timeout_s: float = TIMEOUT_S) -> Output:
        """Run a bash script as root and return its output; raise SessionError if it did not end."""


@dataclass(frozen=True)
class SessionManagerShell:
    """Runs commands, each in a new session."""

    sessions: Sessions

    def run(self, target: Target, script: str, timeout_s: float = TIMEOUT_S) -> Output:
        """Run a bash script as root and return its output; raise SessionError if it did not end."""
        mark = secrets.token_hex(8)
        session = self.sessions.start(target, DOCUMENT, {"command": [framed(script, mark)]})
        try:
            printed = _open(session, timeout_s)
        except subprocess.TimeoutExpired as error:
            self.sessions.terminate(session)
            raise ShellError(f"{target.instance}: the command did not end within {timeout_s:.0f} s") from error
        return unframed(printed, mark, target.instance)


def _open(session: Session, timeout_s: float) -> str:
    """Run the plugin and return its output.

    Its input must be a terminal: https://github.com/aws/amazon-ssm-agent/issues/354.
    """
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            session.command,
            env=session.environment,
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C in the terminal does not reach it
            timeout=timeout_s,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    return done.stdout.decode(errors="replace")


def framed(script: str, mark: str) -> str:
    """Return a command that prints the script's output between marks, with its exit status.

    It is the same for an agent that starts a shell and for one that splits words, because the script is encoded.
    """
    text = base64.b64encode(script.encode()).decode()
    run = f'bash -c "$(echo {text} | base64 -d)" </dev/null 2>&1'
    return f"bash -c 'echo {mark}-begin; {run}; status=$?; echo; echo {mark}-end-$status-'"


def unframed(printed: str, mark: str, node: str) -> Output:
    """Return the output between the marks; raise ShellError without both."""
    text = printed.replace("\r", "")
    found = re.search(rf"^{mark}-begin\n(.*)\n{mark}-end-(\d+)-$", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ShellError(f"{node}: the session ended without the command's end and printed: {text.strip()[-500:]}")
    return Output(int(found[2]), found[1])


def in_parallel(function: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
    """Return the function's answer for each item, in their order."""
    with ThreadPoolExecutor(PARALLEL_SESSIONS) as pool:
        return list(pool.map(function, items))
