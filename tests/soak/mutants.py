"""`python -m tests.soak.mutants`: plant each defect, and show how many schedules it takes to find it."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Without pytest, the functions' source root is not on the path.
sys.path.insert(0, str(Path(__file__).parents[2] / "lambda_assets"))

from tests.soak.command import CI_EXAMPLES
from tests.soak.defects import DEFECTS


def main() -> int:
    """Print the table; 1 when a defect is not found."""
    survivors = []
    width = max(map(len, DEFECTS))
    print(f"{'defect':<{width}}  {'found after':>11}  seconds  violated invariant")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (found, violation, took_s) in zip(DEFECTS, pool.map(_hunt, DEFECTS), strict=True):
            survivors += [] if violation else [name]
            print(f"{name:<{width}}  {found:>11}  {took_s:>7.1f}  {violation[:90]}", flush=True)
    print(f"MUTANTS {len(DEFECTS) - len(survivors)} found {len(survivors)} survived")
    return int(bool(survivors))


def _hunt(name: str) -> tuple[str, str, float]:
    """Return how many schedules were drawn or which was recorded, the violated invariant (empty without one), and the seconds."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "tests.soak", "--defect", name, "--examples", str(CI_EXAMPLES)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1) or not ended.stdout:
        raise SystemExit(f"defect {name!r} could not be planted: {ended.stderr.strip()[-500:]}")
    said = json.loads(ended.stdout)
    return said["found"], (said["violations"] or [""])[0], time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
