"""`make bench` measures the phases of a synthesis by function names, which must exist and be called."""

import json
import subprocess
import sys

from tests.bench.phases import PHASES, SYNTH


def test_each_phase_of_a_synthesis_is_measured() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.bench.phases"], check=True, stdout=subprocess.PIPE, text=True)

    taken = json.loads(done.stdout)

    assert {*PHASES.values(), SYNTH} <= set(taken)
    assert all(seconds > 0 for seconds in taken.values())
