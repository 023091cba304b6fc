"""Read secrets from Secrets Manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.retry import RetryPolicy, retry

if TYPE_CHECKING:
    from hyperpod_node.system import System

TIMEOUT_S = 60


def read(arn: str, system: System) -> str:
    """Return the text of a secret; retry, as a new node may not have credentials or a route yet."""
    query = ("--secret-id", arn, "--region", arn.split(":")[3], "--query", "SecretString", "--output", "text")
    policy = RetryPolicy(TIMEOUT_S, clock=system.clock, is_outside=True)
    output = retry(f"the secret {arn}", lambda: system.run("aws", "secretsmanager", "get-secret-value", *query), policy)
    return output.removesuffix("\n")
