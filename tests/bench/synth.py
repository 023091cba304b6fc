"""How long the synthesis of the reference cluster takes, next to that of an empty app.

Times are the processors', so that a machine that others use, too, distorts less. `python -X importtime app.py` and
`python -m cProfile -s cumulative app.py` show where they go.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests import cluster_files
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
