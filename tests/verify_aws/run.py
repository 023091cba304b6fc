"""Runs the checks in order, and always tears down."""

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.verify_aws.checks import CHECKS, DESTROYED, ERRORS, Check, Run, text_of
from tests.verify_aws.interruption import InterruptedRunError, Interruption
from tests.verify_aws.leftovers import leftovers, log_groups_of_nodes
from tests.verify_aws.verdicts import CheckResult, Leftover, Report, Verdict, passed

NECESSARY = 2
"""Without the first two checks, the others cannot pass."""
ATTEMPTS, AGAIN_AFTER_S = 3, 30.0
SETTLES_WITHIN_S = 3600.0
BUSY_POLL_S = 5.0
DESTROY_WITHIN_S = 5400.0

Show = Callable[[CheckResult], None]


def verify(run: Run, interruption: Interruption, show: Show) -> Report:
    """Run the checks until one that is necessary fails or a signal comes, tear down, and return the report."""
    results: list[CheckResult] = []
    interrupted = ""
    try:
        for result in _checks(run):
            results.append(result)
            show(result)
    except InterruptedRunError as signal:
        interrupted = str(signal)
        run.say(f"{signal}: the checks end here; tearing down")
    finally:
        try:
            interruption.disarm()
        except InterruptedRunError as signal:  # a signal just before; it has disarmed
            interrupted = str(signal)
        last, left = _torn_down(run)
    results += [_not_reached(number) for number in range(len(results) + 1, len(CHECKS) + 1)]
    show(last)
    return Report((*results, last), left, interrupted)


def _checks(run: Run) -> Iterator[CheckResult]:
    results: list[CheckResult] = []
    for number, (title, check) in enumerate(CHECKS, 1):
        if not passed(results[:NECESSARY]) or not run.seconds_left:
            return
        run.say(f"check {number}: {title}")
        results.append(_result(number, title, check, run))
        yield results[-1]


def _result(number: int, title: str, check: Check, run: Run) -> CheckResult:
    started, result = time.monotonic(), CheckResult(number, title, Verdict.PASSED)
    try:
        result = replace(result, seen=check(run))
    except Exception as error:  # noqa: BLE001  the report must include a bug in a check
        result = replace(result, verdict=Verdict.FAILED, seen=_failure(error, run))
        run.save_after_failure(f"failed-{number}")
    return replace(result, seconds=time.monotonic() - started)


def _failure(error: Exception, run: Run) -> str:
    """Return the text of an error; print where a bug is."""
    if not isinstance(error, ERRORS):
        run.say("".join(traceback.format_exception(error)))
    return text_of(error)


def _not_reached(number: int) -> CheckResult:
    return CheckResult(number, CHECKS[number - 1][0], Verdict.NOT_REACHED)


def _torn_down(run: Run) -> tuple[CheckResult, tuple[Leftover, ...]]:
    """Save the logs, destroy the stacks, delete the nodes' log groups, and return what is left."""
    run.say(f"check {len(CHECKS) + 1}: {DESTROYED}")
    started, seen = time.monotonic(), []
    try:
        run.cluster.save_logs()
    except Exception as error:  # noqa: BLE001  nothing may prevent the deletion
        run.say(f"the logs are not saved: {error!r}")
    for step in (_destroy, _delete_logs):
        try:
            step(run)
        except Exception as error:  # noqa: BLE001  the next step and the report must follow
            seen.append(_failure(error, run))
    left = leftovers(run.cluster.deployment, run.cdk.destroy_command)
    seen += [f"left: {each.kind} {each.name}" for each in left]
    verdict = Verdict.FAILED if seen else Verdict.PASSED
    text = "; ".join(seen) or "nothing is left"
    return CheckResult(len(CHECKS) + 1, DESTROYED, verdict, text, time.monotonic() - started), left


def _destroy(run: Run) -> None:
    """Destroy the stacks once none of them is being updated; what fails is repeated."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _settle(run)
            run.cdk.destroy(DESTROY_WITHIN_S)
        except Exception as error:
            if attempt == ATTEMPTS:
                raise
            run.say(f"{text_of(error)}; trying again in {AGAIN_AFTER_S:.0f} s")
            time.sleep(AGAIN_AFTER_S)
        else:
            return


def _settle(run: Run) -> None:
    """Wait until CloudFormation accepts a deletion: it does not during an update."""
    end = time.monotonic() + SETTLES_WITHIN_S
    while busy := [stack for stack in run.cluster.deployment.read_stacks() if _is_updating(stack.status)]:
        if time.monotonic() > end:
            return  # the deletion shows why not
        run.say(f"waiting until {busy[0].name} is no longer {busy[0].status}")
        time.sleep(BUSY_POLL_S)


def _is_updating(status: str) -> bool:
    return "UPDATE" in status and status.endswith("_IN_PROGRESS")


def _delete_logs(run: Run) -> None:
    """Delete the log groups of the nodes, which are saved; HyperPod keeps them."""
    logs = run.cluster.deployment.client("logs")
    for group in log_groups_of_nodes(run.cluster.deployment):
        logs.delete_log_group(logGroupName=group)
