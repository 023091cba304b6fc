"""`python -m tests.soak`: many schedules of faults against the custom resource's real code, or one from a file."""

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path

from tests.soak import defects
from tests.soak.rollout.defects import ROLLOUT_DEFECTS
from tests.soak.schedule import ScheduleError, load
from tests.soak.smallest import kinds, smallest
from tests.soak.soaking import Result, soak, soak_everywhere
from tests.soak.subject import CLUSTER, ROLLOUT, SUBJECTS

CI_EXAMPLES = 2000


def main(arguments: list[str]) -> int:
    """Run what is asked for; 0 when every invariant holds and the schedules were rich enough."""
    chosen = _parser().parse_args(arguments)
    if chosen.schedule:
        if chosen.defect:
            defects.plant(chosen.defect)
        return _replay(chosen.schedule, chosen.resource or CLUSTER)
    if chosen.defect:
        return _hunt(chosen.defect, chosen.examples, chosen.seed)
    workers = chosen.workers or os.cpu_count() or 1
    failed = 0
    for resource in [chosen.resource] if chosen.resource else SUBJECTS:
        examples = _part(chosen.examples, resource)
        begin = time.monotonic()
        many = workers > 1
        result = soak_everywhere(examples, chosen.seed, workers, resource) if many else soak(examples, chosen.seed, resource)
        failed |= _report(result, resource, time.monotonic() - begin)
    return failed


def _part(examples: int, resource: str) -> int:
    return max(1, round(examples * SUBJECTS[resource].part))


def _hunt(defect: str, examples: int, seed: int) -> int:
    """Plant a defect, and print after how many drawn schedules, or in which recorded one, it is found."""
    defects.plant(defect)
    resource = ROLLOUT if defect in ROLLOUT_DEFECTS else CLUSTER
    result = soak(_part(examples, resource), seed, resource)
    found, violations = str(result.richness.examples), result.violations
    if not violations:
        found, violations = _recorded(resource)
    print(json.dumps({"found": found, "violations": violations}))
    return int(bool(violations))


def _recorded(resource: str) -> tuple[str, list[str]]:
    """Return the first recorded schedule that violates an invariant, and what it violates."""
    subject, folder = SUBJECTS[resource], Path(__file__).parent
    for path in sorted((folder if resource == CLUSTER else folder / resource).glob("schedules/*.json")):
        if violations := subject.run(load(path, subject.operations)).violations:
            return path.stem, violations
    return "never", []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument(
        "--examples", type=_count, default=CI_EXAMPLES, help="schedules of a cluster to draw (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="another one draws other schedules (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="cores to use; 0 for all (default: %(default)s)", metavar="N")
    parser.add_argument("--resource", choices=SUBJECTS, help="draw or run schedules of this resource (default: draw of all)")
    parser.add_argument("--schedule", type=Path, help="run the schedule in this file instead", metavar="FILE.json")
    parser.add_argument("--defect", choices=sorted(defects.DEFECTS), help="plant this defect in the code first", metavar="NAME")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of schedules above 0, got {text}")
    return int(text)


def _replay(path: Path, resource: str) -> int:
    try:
        schedule = load(path, SUBJECTS[resource].operations)
    except ScheduleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    outcome = SUBJECTS[resource].run(schedule)
    print("\n".join(outcome.story))
    print(f"{outcome.calls} API calls, {len(outcome.violations)} violations")
    print("\n".join(outcome.violations), end="\n" if outcome.violations else "")
    return int(bool(outcome.violations))


def _report(result: Result, resource: str, took_s: float) -> int:
    if result.failed is not None:
        kind = result.violations[0].split(":")[0]
        found = smallest(result.failed, kind, resource)
        outcome = SUBJECTS[resource].run(found)
        print("\n".join((*outcome.violations, *outcome.story)))
        print(f"{', '.join(sorted(kinds(outcome)))}; to replay it:")
        print(f"echo {shlex.quote(json.dumps(found))} | python -m tests.soak --resource {resource} --schedule /dev/stdin")
        return 1
    print("\n".join((f"resource: {resource}", *result.richness.lines(), f"took {took_s:.0f} s; every invariant holds")))
    poor = result.richness.poor()
    if poor:
        print(
            f"error: the schedules are not rich enough: {', '.join(poor)}; draw more of it in tests/soak/drawing.py",
            file=sys.stderr,
        )
    return int(bool(poor))
