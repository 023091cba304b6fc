"""How long a function takes to start, next to what any function with boto3 pays for: the import, and the first client.

The packaged asset runs, compiled anew each time as in Lambda, where nothing can be written beside it; boto3 is compiled as there.
Times are the processor's, so that a machine that others use, too, distorts less.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from constructs.hyperpod.cluster.function_package import write_package
from tests.bench.timing import medians, verdict

IMPORT_LIMIT, CLIENT_LIMIT = 1.1, 0.5
ROUNDS_PER_ROUND = 3  # a start takes a tenth of a second: there is time for more of them
HANDLERS = ("step", "entry", "responder")

MEASURE = "import sys, time; sys.path.insert(0, {asset!r})\n{before}\nstarted = time.process_time()\n{measured}\n"
PRINT = "print(time.process_time() - started)"
IMPORTS_DONE = "import boto3, cluster_resource.step; from cluster_resource.aws_api import sagemaker_client"


def bench(rounds: int, tolerance: float) -> bool:
    """Measure and print; tell whether the limits hold."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", "import boto3"], env=kept, check=True)
    with tempfile.TemporaryDirectory() as folder:
        write_package(Path(folder))
        programs = {
            "import boto3": _program(folder, "", "import boto3"),
            **{f"import {name}": _program(folder, "", f"import cluster_resource.{name}") for name in HANDLERS},
            "boto3.client": _program(folder, IMPORTS_DONE, 'boto3.client("sagemaker")'),
            "our client": _program(folder, IMPORTS_DONE, "sagemaker_client()"),
        }
        taken = medians(programs, rounds * ROUNDS_PER_ROUND)
    held = [
        verdict(f"import of {name}.handler, s", taken[f"import {name}"], taken["import boto3"], IMPORT_LIMIT, tolerance)
        for name in HANDLERS
    ]
    held.append(verdict("creation of the client, s", taken["our client"], taken["boto3.client"], CLIENT_LIMIT, tolerance))
    return all(held)


def _program(asset: str, before: str, measured: str) -> Callable[[], float]:
    """A process of its own that measures one statement, after others."""
    program = MEASURE.format(asset=asset, before=before, measured=measured) + PRINT
    given = {"AWS_DEFAULT_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    environment = {**os.environ, **given, "PYTHONDONTWRITEBYTECODE": "1"}

    def run() -> float:
        done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return float(done.stdout)

    return run
