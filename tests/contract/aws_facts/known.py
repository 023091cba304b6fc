"""The known differences from AWS: what a judge answers instead, how bad that is, and why it stays.

A difference that no longer differs, or differs in another way, fails its test.
"""

from typing import Any, NamedTuple


class Difference(NamedTuple):
    """A judge's answer that is not AWS's."""

    here: Any
    kind: str
    """`harmless`, `kinder` or `stricter` than AWS, or `silent`: accepted and ignored."""
    reason: str


KINDS = ("harmless", "kinder", "stricter", "silent")
ABORTS = "a deleted state machine aborts its executions at once; names of the product's machines are not reused"
UNKNOWN = "a condition key that is not evaluated here denies, so that no test passes by it"

# By a fact's id and a judge.
KNOWN: dict[tuple[str, str], Difference] = {
    ("sfn-delete-running", "engine"): Difference("StateMachineDoesNotExist", "kinder", ABORTS),
    ("iam-logic-unknown-key", "engine"): Difference("denied", "stricter", UNKNOWN),
    ("s3-batch-wrong-version", "engine"): Difference([], "kinder", "only versions that were just listed are deleted"),
}
