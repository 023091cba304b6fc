"""A step of the demo: a command, as a user would type it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from local_aws.cdk_output import shorten
from local_aws.environment import PROJECT

Environment = Mapping[str, str]
Say = Callable[[str], None]


class DemoError(Exception):
    """A step of the demo failed; the text says which."""


@dataclass(frozen=True)
class Step:
    """A command of the demo, its title and its working directory; ``before`` prepares or waits for what it needs."""

    title: str
    command: tuple[str, ...]
    folder: Path = PROJECT
    before: Callable[[Environment], None] | None = None


def run(step: Step, environment: Environment) -> int:
    """Run the step and return its exit status; shorten the output unless stdout is a terminal, where `cdk` draws a bar."""
    if sys.stdout.isatty():
        return subprocess.run(step.command, cwd=step.folder, env=environment, check=False).returncode
    into = sys.stdout.encoding or "ascii"
    with subprocess.Popen(
        step.command,
        cwd=step.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in shorten(process.stdout or ()):
            print(line.encode(into, "replace").decode(into), end="", flush=True)
    return process.returncode


def output(command: tuple[str, ...], environment: Environment) -> str | None:
    """Return what a command prints; None if it fails."""
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


@dataclass(frozen=True)
class Goal:
    """Nodes to wait for: ``count`` ``nouns`` that are ``state`` ``place``; ``command`` shows why some are not."""

    count: int
    nouns: str
    state: str
    place: str
    command: str


def wait_for(goal: Goal, look: Callable[[], set[str]], within_s: float) -> None:
    """Wait until ``look`` returns as many nodes as the goal."""
    end, announced = time.monotonic() + within_s, False
    while len(found := look()) < goal.count:
        if not announced:
            print(f"\nwaiting up to {within_s:.0f} s for {goal.count} {goal.state} {goal.nouns} {goal.place}", flush=True)
            announced = True
        if time.monotonic() > end:
            raise DemoError(
                f"{len(found)} of {goal.count} {goal.nouns} are {goal.state} {goal.place} after {within_s:.0f} s; "
                f"see `python -m local_aws {goal.command}`; stop the embedded AWS with `make demo-down`"
            )
        time.sleep(1)


def relative(path: Path) -> str:
    """Return a path as a user of the project would type it."""
    return os.path.relpath(path, PROJECT) if path.is_relative_to(PROJECT) else str(path)
