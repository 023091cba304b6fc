"""How long the synthesis of the reference cluster takes, next to that of an empty app.

Times are the processors', so that a machine that others use, too, distorts less; those of the phases are not.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests import cluster_files
from tests.bench.phases import SYNTH
from tests.bench.timing import cpu_seconds, medians, verdict

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".venv" / "bin" / "node"
# A cluster file has four stacks since monitoring has its own.
# aws-cdk-lib applies rules to them, about a seventh of the time; it rejects the empty app's template before any rule runs.
WITHOUT_NAG, WITH_NAG = 2.5, 2.5


def bench(rounds: int, tolerance: float) -> bool:
    """Measure and print; tell whether both limits hold."""
    # A Node of another release would be another base; what Python compiled in an earlier round is there in every round.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["JSII_NODE"] = str(NODE)
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            "empty app": _program(folder, environment, "tests/bench/empty_app.py"),
            "without nag": _program(folder, environment, "app.py", nag="false"),
            "with nag": _program(folder, environment, "app.py"),
        }
        for run in programs.values():
            run()
        taken = medians(programs, rounds)
    held = [
        verdict("synth without cdk-nag, s", taken["without nag"], taken["empty app"], WITHOUT_NAG, tolerance),
        verdict("synth with cdk-nag, s", taken["with nag"], taken["empty app"], WITH_NAG, tolerance),
    ]
    _print_phases(environment, rounds)
    return all(held)


def _program(folder: str, environment: Mapping[str, str], program: str, **context: str) -> Callable[[], float]:
    """A run of the program, each time into a folder that is new."""

    def run() -> float:
        outdir = tempfile.mkdtemp(dir=folder)
        context_of_the_app = {
            "CDK_OUTDIR": outdir,
            "CDK_CONTEXT_JSON": json.dumps({"clusters": str(cluster_files.CLUSTERS), **context}),
        }
        return cpu_seconds([sys.executable, program], ROOT, {**environment, **context_of_the_app})

    return run


def _print_phases(environment: Mapping[str, str], rounds: int) -> None:
    """Print where the time of a synthesis without cdk-nag goes: the medians of as many runs."""
    validated, plain = [], []
    for _ in range(rounds):
        validated.append(_phases(environment))
        plain.append(_phases({**environment, "CDK_VALIDATION": "false"}))
    phases = {name: statistics.median(run[name] for run in validated) for name in validated[0]}
    templates = statistics.median(run[SYNTH] for run in plain)
    phases["aws-cdk-lib's own validation of the templates (an empty app starts it, too)"] = phases.pop(SYNTH) - templates
    phases["synth(): templates and manifests"] = templates
    print("where it goes (medians; what is inside another phase is not counted twice):")
    for name in sorted(phases, key=lambda phase: -phases[phase]):
        print(f"  {phases[name]:6.2f} s  {name}")


def _phases(environment: Mapping[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.phases"]
    done = subprocess.run(command, cwd=ROOT, env=dict(environment), check=True, stdout=subprocess.PIPE, text=True)
    phases: dict[str, float] = json.loads(done.stdout)
    return phases
