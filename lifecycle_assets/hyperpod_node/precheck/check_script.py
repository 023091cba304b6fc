"""Check an sbatch script."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import script_commands, script_form, script_recovery, script_resources
from hyperpod_node.precheck.problem import ERROR, Problem
from hyperpod_node.precheck.sbatch_script import SbatchScript

if TYPE_CHECKING:
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

RULES = (*script_form.RULES, *script_commands.RULES, *script_recovery.RULES)
CLUSTER_RULES = (*script_resources.RULES, *script_recovery.CLUSTER_RULES)


def read(path: Path) -> SbatchScript:
    """Return the script in ``path``."""
    try:
        return SbatchScript(path.read_bytes().decode())  # read_text would hide Windows line endings
    except (OSError, UnicodeDecodeError) as error:
        raise NodeError(f"cannot read {path}: {error}") from None


def check(script: SbatchScript, cluster: SlurmCluster) -> list[Problem]:
    """Return the problems that the rules find, ordered by line."""
    problems = [problem for rule in RULES for problem in rule(script)]
    problems += [problem for rule in CLUSTER_RULES for problem in rule(script, cluster)]
    return sorted(problems, key=lambda problem: problem.line)


def has_errors(problems: list[Problem]) -> bool:
    """Return whether any problem is an error."""
    return any(problem.level == ERROR for problem in problems)


def as_text(path: Path, problems: list[Problem]) -> str:
    """Return the problems in the format of a compiler, each with its fix below."""
    lines = [f"{path}:{problem.line}: {problem.level}: {problem.message}\n  -> {problem.fix}" for problem in problems]
    return "\n".join(lines) or f"{path}: no problems found"


def as_json(path: Path, problems: list[Problem]) -> str:
    """Return the problems as JSON."""
    return json.dumps({"script": str(path), "problems": [asdict(problem) for problem in problems]}, indent=2)
