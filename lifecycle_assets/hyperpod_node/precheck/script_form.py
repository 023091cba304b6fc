"""Rules about the syntax of a script: whether sbatch reads it as intended."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hyperpod_node.precheck.problem import error, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.problem import Problem
    from hyperpod_node.precheck.sbatch_script import SbatchScript

# Folders on the node's own disk, which is lost with the node.
LOCAL = ("/tmp", "/var", "/opt", "/root", "/dev/shm", "/scratch", "/mnt")  # noqa: S108 - not used as files


def interpreter(script: SbatchScript) -> Iterator[Problem]:
    """Require a #! line."""
    if not script.lines[0].startswith("#!"):
        yield error(1, "the first line does not start with #!: sbatch rejects the script", "write #!/bin/bash as the first line")


def line_ends(script: SbatchScript) -> Iterator[Problem]:
    """Reject Windows line endings."""
    for number, line in enumerate(script.lines, 1):
        if line.endswith("\r"):
            yield error(number, "Windows line endings: sbatch rejects the script", "sed -i 's/\\r$//' SCRIPT")
            return


def misplaced(script: SbatchScript) -> Iterator[Problem]:
    """Reject options after the first command, which sbatch ignores without a message."""
    for number, line in script.directives:
        if number > script.first_command:
            yield error(
                number,
                f"`{line.strip()}` is after the first command (line {script.first_command}): sbatch ignores it",
                "move it above the first command",
            )


def local_files(script: SbatchScript) -> Iterator[Problem]:
    """Reject output on the node's own disk, which other nodes cannot read and which is lost with the node."""
    for name in ("output", "error", "chdir"):
        option = script.option(name)
        if option and any(PurePosixPath(folder) in PurePosixPath(option.value).parents for folder in LOCAL):
            yield error(
                option.line,
                f"--{name}={option.value} is on the node's own disk, which is lost when the node is replaced",
                "use a folder in /fsx",
            )


def overwritten_output(script: SbatchScript) -> Iterator[Problem]:
    """Warn about an output file that a requeued job overwrites, with the error of the first run."""
    requeue, mode = script.option("requeue"), script.option("open-mode")
    if requeue and (mode is None or mode.value != "append"):
        yield warning(
            requeue.line,
            "--requeue without --open-mode=append: the second run overwrites the log of the first, with its error",
            "add #SBATCH --open-mode=append",
        )


RULES = (interpreter, line_ends, misplaced, local_files, overwritten_output)
