"""Fault injection: fail the next calls of an operation, or end processes and executions: docs/internals/local-aws-faults.md.

Inject faults over HTTP, `POST /_local_aws/faults`, with a JSON object of a `Fault`'s fields, or with
`python -m local_aws fault OPERATION FIELD=VALUE`.
"""

from dataclasses import asdict
from typing import Any

from local_aws import control
from local_aws.faults.fault import Fault
from local_aws.faults.orders import order, ordered, reset, take

__all__ = ["Fault", "handle", "order", "ordered", "reset", "take"]


def handle(request: control.Request) -> list[dict[str, Any]]:
    """Add a fault (POST) or clear all (DELETE); return the pending ones."""
    if request.method == "DELETE":
        reset()
    elif request.method == "POST":
        order(Fault(**request.json()))
    return [asdict(fault) for fault in ordered()]
