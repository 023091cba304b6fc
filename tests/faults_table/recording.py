"""What a test saw happen, kept with its report: calls, answers to CloudFormation, reasons of stacks, errors at synth.

Whatever stands in for CloudFormation or a user tells it here with ``happened``; tests/conftest.py takes the two hooks, so that
every report carries the rows of docs/internals/faults.md that its test covers, also from the workers of pytest-xdist.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from itertools import groupby

import pytest

KEPT = 40
_seen: deque[str] = deque(maxlen=KEPT)


_requested: set[str] = set()


def requested(mode: str) -> None:
    """Keep the mode of a request to create or update a cluster."""
    _requested.add(mode)


def happened(text: str) -> None:
    """Keep what the running test saw."""
    _seen.append(text)


def rows_of(item: pytest.Item) -> list[int]:
    """The rows of docs/internals/faults.md that a test covers."""
    return sorted({int(number) for mark in item.iter_markers("fault") for number in mark.args})


def mode_of(item: pytest.Item) -> str:
    """The mode in which a test ran: its parameter `mode`, if the test made a request of that mode."""
    callspec = getattr(item, "callspec", None)
    mode = str(callspec.params.get("mode", "")) if callspec else ""
    return mode if mode in _requested else ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin with nothing seen."""
    _seen.clear()
    _requested.clear()
    item.user_properties += [("fault", row) for row in rows_of(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Put what was seen beside the test's outcome."""
    try:
        yield
    finally:
        item.user_properties += [("happened", text) for text in _counted(_seen)]
        item.user_properties += [("mode", mode_of(item))] if mode_of(item) else []


def _counted(seen: Iterable[str]) -> Iterator[str]:
    """What was seen, with what was seen several times in a row once."""
    for text, same in groupby(seen):
        times = sum(1 for _ in same)
        yield text if times == 1 else f"{text} ({times} times)"
