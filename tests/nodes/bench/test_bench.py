"""The bench of lifecycle scripts, on the smallest cluster and the smallest scripts."""

import re
import subprocess
import sys
from pathlib import Path

from tests.bench.nodes.figures import ALL_IDLE, CPU, PROGRAMS
from tests.nodes.cluster.conftest import ON_CREATE, ROLES

ROOT = Path(__file__).parents[3]


def test_what_a_worker_takes_is_measured(tmp_path: Path) -> None:
    scripts = tmp_path / "tiny"
    scripts.mkdir()
    (scripts / "on_create.sh").write_text(ON_CREATE)
    (scripts / "roles.sh").write_text(ROLES)
    command = (sys.executable, "-m", "tests.bench.nodes", "--workers", "1", "--rounds", "1", "--lifecycle", str(scripts))

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 0, done.stdout + done.stderr
    cells = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines())
    figures = {row[0]: float(row[1]) for row in cells if len(row) == 2 and row[1] != "not measured" and row[0] != "median"}
    assert figures[ALL_IDLE] > figures["on_create, s"] > figures[CPU] > 0
    assert figures["CPU of the whole worker meanwhile, s"] > figures[CPU]
    assert figures["objects that HyperPod fetches from S3"] == 4  # and what a deployment adds
    # On a quiet machine all may come before it is seen that the controller listens.
    assert figures["tries to connect before a controller listens"] + figures["connections to the controller"] > 0
    # Where the kernel keeps no accounts of processes, the bench says so.
    counted = figures.get("programs started on the worker meanwhile", 0)
    assert counted > figures.get(PROGRAMS, 0) > 10 or "not measured" in done.stdout
