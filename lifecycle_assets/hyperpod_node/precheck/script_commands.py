"""Rules about the commands of a script, for any cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.precheck.problem import error
from hyperpod_node.precheck.sbatch_script import runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.problem import Problem
    from hyperpod_node.precheck.sbatch_script import SbatchScript


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


RULES = (environment_modules, localhost_rendezvous, administration)
