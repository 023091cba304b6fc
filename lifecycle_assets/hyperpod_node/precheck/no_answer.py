"""Results for Slurm nodes that did not answer: the reason and the fix."""

from __future__ import annotations

from hyperpod_node.precheck.check_result import CheckResult, failed

BUSY = {"allocated", "planned", "reserved"}
DRAINED = {"drained", "draining", "fail", "failing", "maint"}
# What sinfo adds to a state: no answer, powering up or down, in maintenance and the like.
MARKS = "*~#!%$@^-"


def of_state(state: str) -> CheckResult:
    """Return the result for a node that was not asked, by its state in Slurm."""
    message, word = f"its state is {state}", state.rstrip(MARKS)
    if state in BUSY:
        return failed(message, "none needed: jobs use the whole node; check again when they have ended")
    if word in DRAINED:
        return failed(
            message, "see who drained it and why: sinfo --list-reasons; then: sudo scontrol update NodeName=... State=RESUME"
        )
    return failed(
        message,
        "on the node, see the reason: sudo journalctl -u slurmd -n 50; then: sudo systemctl restart slurmd. If the node is "
        "unreachable: aws sagemaker batch-replace-cluster-nodes",
    )


def of_error(error: str) -> CheckResult:
    """Return the result for a node on which srun could not start a step."""
    return failed(
        error, "on the node, find the failed check: sudo hyperpod-precheck; if slurmd has stopped: sudo systemctl restart slurmd"
    )


def of_nothing() -> CheckResult:
    """Return the result for a node on which hyperpod-precheck printed no result, or is not installed."""
    return failed(
        "it printed no result", "on the node, run hyperpod-precheck; if it is not installed, see the log of the lifecycle scripts"
    )
