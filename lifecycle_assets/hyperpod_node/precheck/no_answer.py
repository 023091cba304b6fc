"""Why a node that Slurm has gave no answer, and what mends that."""

from __future__ import annotations

from hyperpod_node.precheck.result import Result, failed

AT_WORK = {"allocated", "planned", "reserved"}
HELD_BACK = {"drained", "draining", "fail", "failing", "maint"}
# What sinfo adds to a state: no answer, powering up or down, in maintenance and the like.
MARKS = "*~#!%$@^-"


def of_state(state: str) -> Result:
    """A node that was not asked, by its state in Slurm."""
    found, word = f"its state is {state}", state.rstrip(MARKS)
    if state in AT_WORK:
        return failed(found, "nothing is wrong with a node that is at work; ask again when its jobs have ended")
    if word in HELD_BACK:
        return failed(
            found, "`sinfo --list-reasons` says who held it back and why; then: sudo scontrol update NodeName=... State=RESUME"
        )
    return failed(
        found,
        "there: sudo journalctl -u slurmd -n 50 says why; then: sudo systemctl restart slurmd. If the node cannot be reached: "
        "aws sagemaker batch-replace-cluster-nodes",
    )


def of_error(error: str) -> Result:
    """A node on which srun could start nothing."""
    return failed(
        error, "there: sudo hyperpod-precheck says what is broken; a slurmd that stopped: sudo systemctl restart slurmd"
    )


def of_nothing() -> Result:
    """A node on which the program ran, or was not found, and printed no result."""
    return failed(
        "it printed no result", "there: hyperpod-precheck; the lifecycle scripts install it, their log says whether they did"
    )
