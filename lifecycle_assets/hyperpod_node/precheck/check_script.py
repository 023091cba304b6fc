"""The check of a user's sbatch script."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import script_commands, script_form, script_recovery, script_resources
from hyperpod_node.precheck.finding import ERROR, Finding
from hyperpod_node.precheck.sbatch_script import SbatchScript

if TYPE_CHECKING:
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

RULES = (*script_form.RULES, *script_commands.RULES, *script_recovery.RULES)
CLUSTER_RULES = (*script_resources.RULES, *script_recovery.CLUSTER_RULES)


def read(path: Path) -> SbatchScript:
    """The script in ``path``."""
    try:
        return SbatchScript(path.read_bytes().decode())  # not read_text: it would hide the line ends of Windows
    except (OSError, UnicodeDecodeError) as error:
        raise NodeError(f"{path} cannot be read: {error}") from None


def findings(script: SbatchScript, cluster: SlurmCluster) -> list[Finding]:
    """All that the rules find, by line."""
    found = [finding for rule in RULES for finding in rule(script)]
    found += [finding for rule in CLUSTER_RULES for finding in rule(script, cluster)]
    return sorted(found, key=lambda finding: finding.line)


def acceptable(found: list[Finding]) -> bool:
    """Tell whether there is no error."""
    return all(finding.level != ERROR for finding in found)


def as_text(path: Path, found: list[Finding]) -> str:
    """The findings as a compiler shows them, each with its remedy below."""
    lines = [f"{path}:{f.line}: {f.level}: {f.found}\n  -> {f.remedy}" for f in found]
    return "\n".join(lines) or f"{path}: nothing found"


def as_json(path: Path, found: list[Finding]) -> str:
    """The findings for a program."""
    return json.dumps({"script": str(path), "findings": [asdict(finding) for finding in found]}, indent=2)
