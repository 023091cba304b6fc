"""Check an sbatch script by rules that hold on any cluster and by those of this cluster.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hyperpod_node.precheck import slurm_cluster
from hyperpod_node.precheck.sbatch_script import error, runs, warning
from hyperpod_node.precheck.slurm_cluster import AUTO_RESUME, auto_resumes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.sbatch_script import Problem, SbatchScript
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

# Folders on the node's own disk, which is lost with the node.
LOCAL = ("/tmp", "/var", "/opt", "/root", "/dev/shm", "/scratch", "/mnt")  # noqa: S108 - not used as files
SHORT_MINUTES = 60  # shorter jobs can be submitted again


def check(script: SbatchScript, cluster: SlurmCluster) -> list[Problem]:
    """Return the problems that the rules find, ordered by line."""
    problems = [problem for rule in RULES for problem in rule(script)]
    problems += [problem for rule in slurm_cluster.RULES for problem in rule(script, cluster)]
    return sorted(problems, key=lambda problem: problem.line)


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


def environment_modules(script: SbatchScript) -> Iterator[Problem]:
    """Reject `module`: HyperPod's images have no environment modules."""
    for command in script.commands:
        if re.match(r"\s*module\s+(load|use|purge|add|swap)\b", command.text):
            yield error(
                command.line, "HyperPod's images have no `module` command", "activate a virtual environment on /fsx instead"
            )


def localhost_rendezvous(script: SbatchScript) -> Iterator[Problem]:
    """Reject localhost as the rendezvous address of several nodes."""
    option = script.option("nodes")
    if option is None or option.value == "1":
        return
    for command in script.commands:
        if re.search(r"(MASTER_ADDR=|--rdzv[-_]endpoint[= ]|--master[-_]addr[= ])[\"']?(localhost|127\.)", command.text):
            yield error(
                command.line,
                "on each node, localhost is the node itself: the nodes train separately or wait forever",
                'use $(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            )


def administration(script: SbatchScript) -> Iterator[Problem]:
    """Reject commands that damage the node for all users."""
    for command in script.commands:
        if runs("systemctl", command) and re.search(r"slurm(d|ctld)", command.text):
            yield error(
                command.line, "restarting Slurm in a job ends this job and others", "ask an administrator to restart Slurm"
            )
        if re.search(r"\baws\s+configure\b", command.text):
            yield error(
                command.line,
                "`aws configure` overrides the node's role for all later jobs of this user",
                "remove it: the node's role provides the credentials",
            )


def misplaced_auto_resume(script: SbatchScript) -> Iterator[Problem]:
    """Reject --auto-resume as an option of sbatch."""
    option = script.option(AUTO_RESUME)
    if option:
        yield error(option.line, "--auto-resume is an option of srun, not of sbatch", "write `srun --auto-resume=1 ...`")


def no_recovery(script: SbatchScript) -> Iterator[Problem]:
    """Warn about a job on several nodes that the loss of one node ends."""
    nodes = script.option("nodes")
    time = script.option("time")
    if time and minutes_of(time.value) <= SHORT_MINUTES:
        return
    several = nodes is not None and nodes.value not in {"", "1"}
    if nodes and several and not script.option("requeue") and not any(auto_resumes(script)):
        yield warning(
            nodes.line,
            "neither --requeue nor srun --auto-resume=1: the loss of one node may end the job",
            "add #SBATCH --requeue and save checkpoints in /fsx, as examples/jobs/fsdp does",
        )


RULES = (
    *(interpreter, line_ends, misplaced, local_files, overwritten_output),
    *(environment_modules, localhost_rendezvous, administration),
    *(misplaced_auto_resume, no_recovery),
)


def minutes_of(time: str) -> float:
    """Return a time limit in minutes; it is `minutes`, `minutes:seconds` or `hours:minutes:seconds`, also after `days-`."""
    days, dash, rest = time.rpartition("-")
    try:
        parts = [int(part) for part in rest.split(":")]
        # The first part is hours after `days-`, and if there are three parts.
        hours, minutes, seconds = [*parts, 0, 0][:3] if dash or len(parts) == 3 else [0, *[*parts, 0][:2]]
        return int(days or 0) * 24 * 60 + hours * 60 + minutes + seconds / 60
    except ValueError:
        return float("inf")  # `UNLIMITED`, or a variable
