"""Read secrets from Secrets Manager."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.system import System

TIMEOUT_S = 60


def read(arn: str, system: System) -> str:
    """Return the text of a secret; retry, as a new node may not have credentials or a route yet."""
    query = ("--secret-id", arn, "--region", arn.split(":")[3], "--query", "SecretString", "--output", "text")
    read_secret = partial(system.run, "aws", "secretsmanager", "get-secret-value", *query)
    output = system.retry(f"the secret {arn}", read_secret, TIMEOUT_S, is_outside=True)
    return output.removesuffix("\n")
