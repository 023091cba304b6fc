"""The bench of lifecycle scripts, on the smallest cluster and the smallest scripts."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.nodes.cluster.conftest import ON_CREATE, ROLES

ROOT = Path(__file__).parents[3]


def test_what_a_worker_takes_is_measured(tmp_path: Path) -> None:
    scripts = tmp_path / "tiny"
    scripts.mkdir()
    (scripts / "on_create.sh").write_text(ON_CREATE)
    (scripts / "roles.sh").write_text(ROLES)
    files = ("--json", str(tmp_path / "measured.json"), "--plot", str(tmp_path / "plot.svg"))
    command = (sys.executable, "-m", "tests.bench.nodes", "--workers", "1", "--rounds", "1", "--lifecycle", str(scripts), *files)

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads((tmp_path / "measured.json").read_text())["runs"]
    (worker,) = (node for node in run["nodes"] if node["group"] == "workers")
    assert run["all_idle_s"] > worker["on_create_s"] > worker["cpu_s"] > 0
    assert worker["node_cpu_s"] > worker["cpu_s"]
    assert worker["objects"] == 4  # and what a deployment adds
    # On a quiet machine all may come before it is seen that the controller listens.
    assert worker["tries"] + worker["to_controllers"] > 0
    # Where the kernel keeps no accounts of processes, the bench says so.
    counted = worker["node_programs"] or 0
    assert counted > (worker["programs"] or 0) > 10 or "programs are not measured" in done.stdout
    assert len(list(ET.parse(tmp_path / "plot.svg").iter("{http://www.w3.org/2000/svg}circle"))) == 2
