"""A schedule: what users, networks and services do, as a list of plain JSON operations; docs/internals/soak.md describes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

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


class Number(NamedTuple):
    """A number of seconds or of calls, within bounds."""

    largest: float

    def problem(self, value: object) -> str:
        """Return what is wrong with ``value``, or an empty text."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "" if is_number and 0 <= value <= self.largest else f"a number from 0 to {self.largest:g}"  # type: ignore[operator]


class Word(NamedTuple):
    """One of several words."""

    words: tuple[str, ...]

    def problem(self, value: object) -> str:
        """Return what is wrong with ``value``, or an empty text."""
        return "" if isinstance(value, str) and value in self.words else f"one of {', '.join(map(repr, self.words))}"


class Delays(NamedTuple):
    """Delays of an event's deliveries, one for each number."""

    largest: float

    def problem(self, value: object) -> str:
        """Return what is wrong with ``value``, or an empty text."""
        is_list = isinstance(value, list) and 1 <= len(value) <= 4
        if is_list and all(not Number(self.largest).problem(item) for item in value):  # type: ignore[attr-defined]
            return ""
        return f"a list of one to four numbers from 0 to {self.largest:g}"


class Flag(NamedTuple):
    """True or false."""

    def problem(self, value: object) -> str:
        """Return what is wrong with ``value``, or an empty text."""
        return "" if isinstance(value, bool) else "true or false"


Field = Number | Word | Delays | Flag
Operations = Mapping[str, Mapping[str, Field]]
OPERATIONS: Operations = {
    "deploy": {"file": Word(tuple(FILES)), "then": Word(("", "rollback"))},
    "destroy": {},
    "cancel": {},
    "continue": {},
    "skip": {},
    "wait": {"seconds": Number(4000)},
    "settle": {},
    "fault": {
        "function": Word(FUNCTIONS),
        "call": Word(CALLS),
        "kind": Word(KINDS),
        "skip": Number(20),
        "seconds": Number(70),
        "code": Word(CODES),
    },
    "deliver": {"delays": Delays(90)},
    "notice": {"delays": Delays(600)},
    "destination": {"delays": Delays(600)},
    "outage": {"seconds": Number(4000), "code": Word(CODES[:2])},
    "stale": {"seconds": Number(20)},
    "lag": {"seconds": Number(30)},
    "service": {
        "creation_fails": Flag(),
        "update_fails": Flag(),
        "creation_s": Number(4000),
        "update_s": Number(4000),
        "deletion_s": Number(4000),
        "capacity": Number(9),
    },
    "foreign": {"name": Word(("fixed", "generated", "adopted")), "tags": Word(("other", "none")), "mode": Word(MODES)},
    "node_fails": {},
    "hand": {"what": Word(("scale", "group", "delete"))},
    "release": {"newer": Flag()},
}
OPTIONAL = {"then", "skip", "seconds", "code", "mode"}
"""Fields with a default."""


def load(path: Path, operations: Operations = OPERATIONS) -> list[Operation]:
    """Return the schedule in a file."""
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise ScheduleError(f"{path} cannot be read ({error.strerror}); name a file that holds a schedule") from error
    except ValueError as error:
        raise ScheduleError(f"{path} is no JSON ({error}); write a list of operations, see docs/internals/soak.md") from error
    return checked(found, str(path), operations)


def checked(schedule: object, path: str, operations: Operations = OPERATIONS) -> list[Operation]:
    """Return the schedule, or raise an error."""
    if not isinstance(schedule, list):
        raise ScheduleError(f"{path}: a schedule is a list of operations, got {_shown(schedule)}; put them into [ ]")
    for index, operation in enumerate(schedule):
        _check(operation, f"{path}: operation {index}", operations)
    return schedule


def _check(operation: object, place: str, operations: Operations) -> None:
    name = str(operation.get("op")) if isinstance(operation, dict) else ""
    if not isinstance(operation, dict) or name not in operations:
        known = ", ".join(operations)
        raise ScheduleError(f"{place}: op must be one of {known}, got {_shown(operation)}; docs/internals/soak.md describes them")
    fields = operations[name]
    unknown = sorted(operation.keys() - fields.keys() - {"op"})
    if unknown:
        takes = ", ".join(fields) or "nothing"
        raise ScheduleError(f"{place}: {name} takes {takes}, got {unknown[0]!r}; remove it or correct its name")
    for key, field in fields.items():
        if key not in operation and (key in OPTIONAL or name == "service") and (name, key) not in (("wait", "seconds"),):
            continue
        problem = field.problem(operation.get(key))
        if problem:
            raise ScheduleError(f"{place}: {key} of {name} must be {problem}, got {_shown(operation.get(key))}; correct it")


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
