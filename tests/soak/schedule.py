"""A schedule: what users, networks and services do, as a list of plain JSON operations; docs/internals/soak.md describes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.soak.faults import KINDS
from tests.soak.files import FILES
from tests.unit.cluster_resource.modes import MODES

Operation = dict[str, Any]
FUNCTIONS = ("entry", "step", "responder")
CALLS = (
    "*",
    "AddTags",
    "CreateCluster",
    "DeleteCluster",
    "DeleteTags",
    "DescribeCluster",
    "DescribeExecution",
    "GetExecutionHistory",
    "ListClusterNodes",
    "ListClusters",
    "ListExecutions",
    "ListTags",
    "PUT",
    "Return",
    "StartExecution",
    "StopExecution",
    "UpdateCluster",
)
CODES = ("ThrottlingException", "InternalFailure", "AccessDeniedException", "ConflictException")


class ScheduleError(ValueError):
    """A schedule that cannot be run; the message names the place, the value and the fix."""


ANY = ()
Operations = Mapping[str, Mapping[str, tuple[str, ...]]]
OPERATIONS: Operations = {
    "deploy": {"file": tuple(FILES), "then": ("", "rollback")},
    "destroy": {},
    "cancel": {},
    "continue": {},
    "skip": {},
    "wait": {"seconds": ANY},
    "settle": {},
    "fault": {"function": FUNCTIONS, "call": CALLS, "kind": KINDS, "skip": ANY, "seconds": ANY, "code": CODES},
    "deliver": {"delays": ANY},
    "notice": {"delays": ANY},
    "destination": {"delays": ANY},
    "outage": {"seconds": ANY, "code": CODES[:2]},
    "stale": {"seconds": ANY},
    "lag": {"seconds": ANY},
    "service": dict.fromkeys(("creation_fails", "update_fails", "creation_s", "update_s", "deletion_s", "capacity"), ANY),
    "foreign": {"name": ("fixed", "generated", "adopted"), "tags": ("other", "none"), "mode": MODES},
    "node_fails": {},
    "hand": {"what": ("scale", "group", "delete")},
    "release": {"newer": ANY},
}
"""The fields of each operation, and the words that a field may have."""


def load(path: Path, operations: Operations = OPERATIONS) -> list[Operation]:
    """Return the schedule in a file; raise ScheduleError for a name that no operation, field or fault has."""
    schedule: list[Operation] = json.loads(path.read_text())
    for index, operation in enumerate(schedule):
        _check(operation, f"{path}: operation {index}", operations)
    return schedule


def _check(operation: Operation, place: str, operations: Operations) -> None:
    fields = {"op": tuple(operations), **operations.get(operation["op"], {})}
    for name, value in operation.items():
        if name not in fields:
            raise ScheduleError(f"{place}: {operation['op']} has no field {name!r}; it has {', '.join(fields)}")
        if fields[name] and value not in fields[name]:
            raise ScheduleError(f"{place}: {name} must be one of {', '.join(map(repr, fields[name]))}, got {value!r}")
