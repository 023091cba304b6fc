"""Rules about the form of a script: whether sbatch reads it as its author meant."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hyperpod_node.precheck.finding import error, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.finding import Finding
    from hyperpod_node.precheck.sbatch_script import SbatchScript

# On every node a folder of its own, gone with the node.
LOCAL = ("/tmp", "/var", "/opt", "/root", "/dev/shm", "/scratch", "/mnt")  # noqa: S108 - looked for, not used


def interpreter(script: SbatchScript) -> Iterator[Finding]:
    """Sbatch refuses a script that does not begin with #!."""
    if not script.lines[0].startswith("#!"):
        yield error(
            1, "the first line does not begin with #!, so sbatch refuses the script", "write #!/bin/bash as the first line"
        )


def line_ends(script: SbatchScript) -> Iterator[Finding]:
    """Sbatch refuses the line ends of Windows."""
    for number, line in enumerate(script.lines, 1):
        if line.endswith("\r"):
            yield error(number, "lines end as on Windows, so sbatch refuses the script", "sed -i 's/\\r$//' SCRIPT")
            return


def misplaced(script: SbatchScript) -> Iterator[Finding]:
    """Sbatch reads its options up to the first command, and says nothing about later ones."""
    for number, line in script.directives:
        if number > script.first_command:
            yield error(
                number,
                f"`{line.strip()}` comes after the first command (line {script.first_command}), so sbatch ignores it",
                "move it up, above every command",
            )


def local_files(script: SbatchScript) -> Iterator[Finding]:
    """Output on a node's own disk is out of sight, and gone with the node."""
    for name in ("output", "error", "chdir"):
        option = script.option(name)
        if option and any(PurePosixPath(folder) in PurePosixPath(option.value).parents for folder in LOCAL):
            yield error(
                option.line,
                f"--{name}={option.value} is on the node's own disk, which is replaced with the node",
                "use a folder below /fsx",
            )


def overwritten_output(script: SbatchScript) -> Iterator[Finding]:
    """A second start empties the output file of the first, where the reason of the failure was."""
    requeue, mode = script.option("requeue"), script.option("open-mode")
    if requeue and (mode is None or mode.value != "append"):
        yield warning(
            requeue.line,
            "--requeue without --open-mode=append: the second start empties the log of the first, and with it the reason",
            "add #SBATCH --open-mode=append",
        )


RULES = (interpreter, line_ends, misplaced, local_files, overwritten_output)
