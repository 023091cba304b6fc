"""The known differences from AWS: what a judge answers instead, how bad that is, and why it stays.

A difference that no longer differs, or differs in another way, fails its test.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """A judge's answer that is not AWS's."""

    here: Any
    kind: str
    """`harmless`, `kinder` or `stricter` than AWS, or `silent`: accepted and ignored."""
    reason: str


KINDS = ("harmless", "kinder", "stricter", "silent")

# By a fact's id and a judge.
KNOWN: dict[tuple[str, str], Difference] = {
    # Step Functions, Lambda and EventBridge
    ("sfn-delete-running", "engine"): Difference(
        "gone", "kinder", "a deleted state machine aborts its executions at once; names of the product's machines are not reused"
    ),
    # CloudFormation: stacks, templates and custom resources
    ("cfn-required-property", "engine"): Difference(
        "ValidationError", "stricter", "properties are checked before a deployment, so that a wrong one costs no resources"
    ),
    # IAM, S3, CloudWatch Logs and parameters
    ("iam-logic-unknown-key", "engine"): Difference(
        "denied", "stricter", "a condition key that is not evaluated here denies, so that no test passes by it"
    ),
    ("s3-batch-wrong-version", "engine"): Difference([], "kinder", "only versions that were just listed are deleted"),
}
