"""All that a verification prints."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping

from tests.verify_aws.cost import Cost
from tests.verify_aws.plan import PEAK, Plan
from tests.verify_aws.verdicts import CheckResult, Report, Verdict

MARKS = {Verdict.PASSED: "ok", Verdict.FAILED: "FAILED", Verdict.NOT_REACHED: "--"}


def say(text: str) -> None:
    """Print a line; no failure to print may end the teardown.

    The terminal may be closed or lack a character, and a signal's handler may print during another print, which Python refuses.
    """
    with contextlib.suppress(OSError, ValueError):
        try:
            print(text, flush=True)
        except RuntimeError:
            os.write(sys.stdout.fileno(), f"{text}\n".encode(errors="replace"))


def show(result: CheckResult) -> None:
    """Print a verdict."""
    say(_line(result))


def introduction(plan: Plan, cost: Cost, *, caller: Mapping[str, str], minutes: int, folder: str) -> str:
    """Return what the program is about to do, with the cost and the time."""
    return "\n".join(_introduction(plan, cost, caller, minutes, folder))


def _introduction(plan: Plan, cost: Cost, caller: Mapping[str, str], minutes: int, folder: str) -> Iterator[str]:
    place = f"account {caller['Account']}, region {plan.region}, zone {plan.zone}"
    yield f"This creates a HyperPod cluster in {place}, as {caller['Arn']}."
    yield f"  name      {plan.name}, with the stacks {plan.name}-Network, -Storage and -Cluster"
    yield f"  nodes     1 controller and at most {PEAK.workers} + {PEAK.added} workers; slurm.setup: {plan.setup}"
    for charge in cost.charges:
        price = "price unknown" if charge.per_hour is None else f"{charge.per_hour:.3f} US dollars an hour"
        yield f"  cost      {charge.name}: {charge.what}: {price}"
    total = cost.per_hour * minutes / 60
    yield f"  total     {total:.2f} US dollars in {minutes} minutes, plus cents for logs, functions and data ({cost.source})"
    yield f"  time      at most {minutes} minutes, then the teardown; Ctrl-C tears down at once"
    yield f"  saves     requests, answers, files of nodes and logs, redacted, in {folder}"


def summary(report: Report, folder: str) -> str:
    """Return the verdicts, and what is left with the commands that remove it."""
    lines = ["", "verdicts:", *(_line(check) for check in report.checks)]
    if report.leftovers:
        lines += ["", "left in the account:"]
        lines += [f"  {each.kind} {each.name}\n    {each.command}" for each in report.leftovers]
    else:
        lines += ["", "nothing is left in the account, except assets in the bucket of `cdk bootstrap`"]
    return "\n".join([*lines, f"fixtures: {folder}"])


def _line(result: CheckResult) -> str:
    seconds = f" ({result.seconds:.0f} s)" if result.seconds else ""
    seen = f": {result.seen}" if result.seen else ""
    return f"  {MARKS[result.verdict]:<6} {result.number} {result.title}{seconds}{seen}"
