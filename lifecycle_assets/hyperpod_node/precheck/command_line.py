"""The command line of hyperpod-precheck."""

from __future__ import annotations

import argparse
import json
import socket
import sys
from dataclasses import asdict
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import all_nodes, check_result, checks, sbatch_script, script_rules
from hyperpod_node.precheck.checked_node import CheckedNode, Facts
from hyperpod_node.precheck.slurm_cluster import SlurmCluster
from hyperpod_node.system import SYSTEM

DESCRIPTION = "Check whether this node, all nodes or an sbatch script are ready for jobs. Exit status 1: a check failed."


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    options = read(arguments)
    try:
        if options.script:
            return script(options.script, options.json)
        return (every_node if options.all else this_node)(options.require, options.json)
    except NodeError as error:
        print(f"hyperpod-precheck: {error}", file=sys.stderr)
        return 2


def read(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser("hyperpod-precheck", description=DESCRIPTION)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="check all Slurm nodes, through srun")
    what.add_argument("--script", type=Path, metavar="JOB.sbatch", help="check an sbatch script")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        choices=list(checks.CHECKS),
        metavar="CHECK",
        help="fail if this check is skipped; one of: " + ", ".join(checks.CHECKS),
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(arguments)


def this_node(required: list[str], as_json: bool) -> int:
    """Check this node."""
    node = CheckedNode(Facts.load(), SYSTEM)
    results = checks.run_all(node, required)
    host = socket.gethostname()
    facts = node.facts
    title = f"{host} ({facts.node}, {facts.role}, {facts.instance_type})"
    print(all_nodes.line_of(host, results) if as_json else check_result.table_of_node(title, results))
    return 0 if checks.healthy(results) else 1


def every_node(required: list[str], as_json: bool) -> int:
    """Check all Slurm nodes; a node that does not answer counts as failed."""
    answers, silent = all_nodes.ask(SYSTEM.run, required)
    if as_json:
        results = {host: {name: asdict(result) for name, result in answer.items()} for host, answer in answers.items()}
        no_answer = {host: asdict(result) for host, result in silent.items()}
        print(json.dumps({"nodes": results, "no_answer": no_answer}, indent=2))
    else:
        print(check_result.table_of_nodes(answers, silent))
    return 0 if not silent and all(checks.healthy(results) for results in answers.values()) else 1


def script(path: Path, as_json: bool) -> int:
    """Check an sbatch script."""
    problems = script_rules.check(sbatch_script.read(path), SlurmCluster.ask(SYSTEM.run))
    if as_json:
        print(json.dumps({"script": str(path), "problems": [asdict(problem) for problem in problems]}, indent=2))
    else:
        print(as_text(path, problems))
    return 1 if any(problem.level == sbatch_script.ERROR for problem in problems) else 0


def as_text(path: Path, problems: list[sbatch_script.Problem]) -> str:
    """Return the problems in the format of a compiler, each with its fix below."""
    lines = [f"{path}:{problem.line}: {problem.level}: {problem.message}\n  -> {problem.fix}" for problem in problems]
    return "\n".join(lines) or f"{path}: no problems found"
