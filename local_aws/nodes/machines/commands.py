"""Programs on a node, each as a unit of its systemd: with a clean environment and its own cgroup, like a service."""

import itertools
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from local_aws.builds.errors import HostError
from local_aws.nodes.machines.node import Node
from local_aws.nodes.specs import HOST

# Whether the program's mounts are the node's own, and whether it sees mounts that the node adds meanwhile.
_MOUNTS = {HOST: (), "slave": ("PrivateMounts=yes",), "private": ("PrivateMounts=yes", "MountFlags=private")}
_ENVIRONMENT = {"HOME": "/root", "LANG": "C.UTF-8"}
_DRAIN_S = 1.0
_KILLED_S = 10.0
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Command:
    """A program to run on a node, with its settings."""

    argv: list[str]
    environment: dict[str, str]
    folder: str
    unit: str | None
    timeout_s: float | None
    mounts: str = HOST


def run(node: Node, command: Command, on_line: Callable[[str], None]) -> int:
    """Run a command and return its exit status; ``on_line`` gets its output as it comes.

    If ``on_line`` raises, the unit is killed: the caller is gone.
    """
    unit = command.unit or f"command-{next(_numbers)}"
    entrance = node.entrance()
    process = subprocess.Popen(
        [*entrance, *_as_unit(unit, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    limit = _Limit(node, unit, process, command.timeout_s)
    try:
        for line in _lines(process):
            on_line(line)
    except OSError:
        limit.kill()
        raise
    finally:
        status = process.wait()
        limit.cancel()
    if limit.has_struck:
        raise HostError(f"'{' '.join(command.argv)}' did not end within {command.timeout_s:g} s and was killed")
    # Whatever the status: if the node is stopped, systemd-run loses its connection and ends with 0.
    if node.has_gone_since(entrance):
        raise HostError(f"node {node.spec.id} stopped while '{' '.join(command.argv)}' ran")
    return status


def _as_unit(unit: str, command: Command) -> list[str]:
    settings = [f"--setenv={name}={value}" for name, value in (_ENVIRONMENT | command.environment).items()]
    argv = [argument.replace("$", "$$") for argument in command.argv]  # systemd expands variables; the program must see them
    return [
        *("systemd-run", "--quiet", "--pipe", "--wait", "--collect", f"--unit={unit}"),
        # Processes that the program leaves behind delay the unit's end only this long.
        *(f"--property={setting}" for setting in _MOUNTS[command.mounts]),
        *("--property=TimeoutStopSec=5s", f"--working-directory={command.folder}", *settings, "--", *argv),
    ]


class _Limit:
    """The timeout of a unit; it kills the unit with all its processes, and the process that waits for it."""

    def __init__(self, node: Node, unit: str, process: subprocess.Popen[bytes], timeout_s: float | None) -> None:
        self._node, self._unit, self._process = node, unit, process
        self.has_struck = False
        self._timer = threading.Timer(timeout_s, self._strike) if timeout_s is not None else None
        if self._timer:
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """Cancel the timeout."""
        if self._timer:
            self._timer.cancel()

    def kill(self) -> None:
        """Kill the unit now."""
        try:
            command = [*self._node.entrance(), "systemctl", "kill", "--signal=KILL", self._unit]
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_KILLED_S)
            self._process.wait(_KILLED_S)
        except (HostError, subprocess.TimeoutExpired):
            self._process.kill()  # the node is gone, or too busy to obey

    def _strike(self) -> None:
        self.has_struck = True
        self.kill()


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    assert process.stdout is not None  # noqa: S101  it is a pipe; for the type checker
    rest = b""
    for part in _parts(process, process.stdout):
        *lines, rest = (rest + part).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
    if rest:
        yield rest.decode(errors="replace")


def _parts(process: subprocess.Popen[bytes], output: IO[bytes]) -> Iterator[bytes]:
    """Yield a process's output until it ends. A leftover child may hold the pipe open: wait for it only briefly."""
    with output, selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        end = None
        while end is None or time.monotonic() < end:
            if selector.select(0.5):
                part = os.read(output.fileno(), 65536)
                if not part:
                    return
                yield part
            elif end is None and process.poll() is not None:
                end = time.monotonic() + _DRAIN_S
