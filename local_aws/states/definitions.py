"""Definitions of state machines: every transition leads to a state, and every state can be reached.

Moto checks the syntax of a definition only. https://states-language.net/spec.html#transition
"""

import json
from collections.abc import Iterator
from typing import Any

from local_aws.errors import AwsError

Json = dict[str, Any]


def check(definition: str) -> None:
    """Raise InvalidDefinition for the first problem of a definition."""
    try:
        top = json.loads(definition)
    except ValueError as error:
        raise _invalid(f"INVALID_JSON_DESCRIPTION: {error}") from error
    problem = next(_problems(top, ""), None)
    if problem:
        raise _invalid(problem)


def _invalid(problem: str) -> AwsError:
    return AwsError("InvalidDefinition", f"Invalid State Machine Definition: '{problem}'")


def _problems(machine: Any, path: str) -> Iterator[str]:
    """Yield the problems of a machine, or of a part of one that has states of its own."""
    missing = [name for name in ("StartAt", "States") if not isinstance(machine, dict) or name not in machine]
    if missing:
        yield f"SCHEMA_VALIDATION_FAILED: These fields are required: {missing} at {path or '/'}".replace("'", "")
        return
    states = machine["States"]
    if machine["StartAt"] not in states:
        yield f"MISSING_TRANSITION_TARGET: Missing 'StartAt' target: {machine['StartAt']} at {path}/StartAt"
    for name, state in states.items():
        for target, where in _transitions(state):
            if target not in states:
                kind = where.rpartition("/")[2]
                yield f"MISSING_TRANSITION_TARGET: Missing '{kind}' target: {target} at {path}/States/{name}/{where}"
        for part, where in _parts(state):
            yield from _problems(part, f"{path}/States/{name}/{where}")
    for name in states.keys() - _reached(machine["StartAt"], states):
        yield f'MISSING_TRANSITION_TARGET: State "{name}" is not reachable. at {path}/States/{name}'


def _transitions(state: Json) -> Iterator[tuple[str, str]]:
    """Yield the names of the states that may follow, and where the state has them."""
    for field in ("Next", "Default"):
        if field in state:
            yield state[field], field
    for field in ("Catch", "Choices"):
        for number, each in enumerate(state.get(field, ())):
            if "Next" in each:
                yield each["Next"], f"{field}[{number}]/Next"


def _parts(state: Json) -> Iterator[tuple[Json, str]]:
    """Yield the machines within a state: a Parallel's branches, and what a Map runs for each item."""
    for number, branch in enumerate(state.get("Branches", ())):
        yield branch, f"Branches[{number}]"
    for field in ("ItemProcessor", "Iterator"):
        if field in state:
            yield state[field], field


def _reached(start: str, states: Json) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in states:
            reached.add(name)
            waiting += [target for target, _ in _transitions(states[name])]
    return reached
