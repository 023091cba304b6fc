"""Rules about the commands of a script, whatever the cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.precheck.finding import error
from hyperpod_node.precheck.sbatch_script import runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.finding import Finding
    from hyperpod_node.precheck.sbatch_script import SbatchScript


def environment_modules(script: SbatchScript) -> Iterator[Finding]:
    """HyperPod's images have no environment modules."""
    for command in script.commands:
        if re.match(r"\s*module\s+(load|use|purge|add|swap)\b", command.text):
            yield error(
                command.line, "HyperPod's images have no `module` command", "activate a virtual environment on /fsx instead"
            )


def local_meeting_point(script: SbatchScript) -> Iterator[Finding]:
    """Processes on several nodes cannot meet at localhost."""
    option = script.option("nodes")
    if option is None or option.value == "1":
        return
    for command in script.commands:
        if re.search(r"(MASTER_ADDR=|--rdzv[-_]endpoint[= ]|--master[-_]addr[= ])[\"']?(localhost|127\.)", command.text):
            yield error(
                command.line,
                "each node meets itself at localhost, so they train apart or wait for ever",
                'use $(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            )


def administration(script: SbatchScript) -> Iterator[Finding]:
    """Some commands damage the node for all."""
    for command in script.commands:
        if runs("systemctl", command) and re.search(r"slurm(d|ctld)", command.text):
            yield error(
                command.line, "a job that restarts Slurm ends itself and others", "leave Slurm's services to the operator"
            )
        if re.search(r"\baws\s+configure\b", command.text):
            yield error(
                command.line,
                "`aws configure` hides the node's own role from the AWS command line, for all later jobs of this user",
                "leave it out: the node's role gives the credentials",
            )


RULES = (environment_modules, local_meeting_point, administration)
