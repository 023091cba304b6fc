"""`python -m tests.soak`: many schedules of faults against the custom resource's real code, or one from a file."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from tests.soak import defects
from tests.soak.run import run
from tests.soak.schedule import ScheduleError, load
from tests.soak.smallest import kinds, smallest
from tests.soak.soaking import Result, soak, soak_everywhere

CI_EXAMPLES = 2000


def main(arguments: list[str]) -> int:
    """Run what is asked for; 0 when every invariant holds and the schedules were rich enough."""
    chosen = _parser().parse_args(arguments)
    workers = chosen.workers or os.cpu_count() or 1
    if chosen.defect:
        defects.plant(chosen.defect)
    if chosen.schedule:
        return _replay(chosen.schedule)
    begin = time.monotonic()
    many = workers > 1
    result = soak_everywhere(chosen.examples, chosen.seed, workers) if many else soak(chosen.examples, chosen.seed)
    if chosen.defect:
        print(json.dumps({"examples": result.richness.examples, "violations": result.violations}))
        return int(result.failed is not None)
    return _report(result, time.monotonic() - begin)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--examples", type=_count, default=CI_EXAMPLES, help="schedules to draw (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another one draws other schedules (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="cores to use; 0 for all (default: %(default)s)", metavar="N")
    parser.add_argument("--schedule", type=Path, help="run the schedule in this file instead", metavar="FILE.json")
    parser.add_argument("--defect", choices=sorted(defects.DEFECTS), help="plant this defect in the code first", metavar="NAME")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of schedules above 0, got {text}")
    return int(text)


def _replay(path: Path) -> int:
    try:
        schedule = load(path)
    except ScheduleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    outcome = run(schedule)
    print("\n".join(outcome.story))
    print(f"{outcome.calls} API calls, {len(outcome.violations)} violations")
    print("\n".join(outcome.violations), end="\n" if outcome.violations else "")
    return int(bool(outcome.violations))


def _report(result: Result, took_s: float) -> int:
    if result.failed is not None:
        kind = result.violations[0].split(":")[0]
        found = smallest(result.failed, kind)
        outcome = run(found)
        print("\n".join((*outcome.violations, *outcome.story)))
        print(f"{', '.join(sorted(kinds(outcome)))}; save this and replay it with `python -m tests.soak --schedule FILE.json`:")
        print(json.dumps(found))
        return 1
    print("\n".join((*result.richness.lines(), f"took {took_s:.0f} s; every invariant holds")))
    poor = result.richness.poor()
    if poor:
        print(
            f"error: the schedules are not rich enough: {', '.join(poor)}; draw more of it in tests/soak/drawing.py",
            file=sys.stderr,
        )
    return int(bool(poor))
