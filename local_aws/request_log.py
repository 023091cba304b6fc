"""The accepted requests, in order: `/_local_aws/requests` lists them, for tests."""

from collections import deque
from copy import deepcopy
from typing import Any

from local_aws import control

KEPT = 10_000
_accepted: deque[dict[str, Any]] = deque(maxlen=KEPT)


def note(service: str, operation: str, request: dict[str, Any]) -> None:
    """Record a request that passed validation."""
    _accepted.append({"service": service, "operation": operation, "request": deepcopy(request)})


def show(_: control.Request) -> list[dict[str, Any]]:
    """Return the newest requests, oldest first."""
    return deepcopy(list(_accepted))


def reset() -> None:
    """Delete all records."""
    _accepted.clear()
