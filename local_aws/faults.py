"""Faults to order: the next calls of an operation fail, or what they start fails later.

Ordered over HTTP, `POST /_local_aws/faults`, with a JSON object like
``{"operation": "sagemaker:CreateCluster", "kind": "refuse", "code": "ResourceLimitExceeded", "message": "...", "times": 1}``.
"""

import socket
import threading
from dataclasses import dataclass, field, replace
from typing import Any

_KINDS = ("refuse", "fail", "lose")


@dataclass(frozen=True)
class Fault:
    """What goes wrong: ``kind`` is `refuse` (an error answer), `fail` (accepted, fails later with ``message``) or `lose`.

    `lose` carries the call out and cuts the connection in the place of an answer.
    """

    operation: str
    kind: str = "refuse"
    code: str = "InternalFailure"
    message: str = "fault injected"
    status: int = 400
    times: int = 1
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"a fault's kind must be one of {_KINDS}, got {self.kind!r}")


_lock = threading.Lock()
_ordered: list[Fault] = []


def order(fault: Fault) -> None:
    """Let ``fault`` happen to the next ``fault.times`` calls."""
    with _lock:
        _ordered.append(fault)


def take(operation: str, kind: str) -> Fault | None:
    """The fault that was ordered for this call, used up by being taken."""
    with _lock:
        for index, fault in enumerate(_ordered):
            if (fault.operation, fault.kind) == (operation, kind):
                _ordered[index : index + 1] = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                return fault
    return None


def lose_reply(environ: dict[str, Any]) -> None:
    """Cut the connection that the request of this WSGI environment came over, so that its answer gets lost."""
    connection: socket.socket = environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)


def reset() -> None:
    """Forget all faults that were ordered."""
    with _lock:
        _ordered.clear()
