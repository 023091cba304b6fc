"""What became of each row's tests, taken from pytest's reports as they come in."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import pytest

from tests.faults_table.recording import rows_of
from tests.faults_table.rows import LAST_WITHOUT_NODES, Row

MODES = ("scripts", "api")
"""The kinds of requests that a row must have been tested with."""


class Verdict(StrEnum):
    """How a row ended."""

    PASSED = "passed"
    FAILED = "FAILED"
    MISSING = "NO TEST"
    ONE_MODE = "MODE MISSING"


@dataclass
class Test:
    """One test of a row."""

    id: str
    is_passed: bool = False
    is_spoilt: bool = False
    seconds: float = 0
    happened: list[str] = field(default_factory=list)
    mode: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it ran to its end, and nothing around it failed; a skipped test did not run."""
        return self.is_passed and not self.is_spoilt


class Collected:
    """A pytest plugin that keeps the tests of rows without nodes, and what their reports say, also those of other processes."""

    def __init__(self) -> None:
        self.tests: dict[int, dict[str, Test]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in one report: of the set-up, the test itself or the clean-up."""
        for row in {int(str(value)) for name, value in report.user_properties if name == "fault"}:
            test = self.tests.setdefault(row, {}).setdefault(report.nodeid, Test(report.nodeid))
            test.seconds += report.duration
            test.mode = next((str(value) for name, value in report.user_properties if name == "mode"), "")
            if report.when == "call":
                test.is_passed = report.passed
                test.happened = [str(value) for name, value in report.user_properties if name == "happened"]
            test.is_spoilt |= report.failed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what covers rows about nodes alone."""
        wanted = [item for item in items if any(row <= LAST_WITHOUT_NODES for row in rows_of(item))]
        left_out = [item for item in items if item not in wanted]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = wanted


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    row: Row
    verdict: Verdict
    happened: str
    seconds: float
    modes: str = ""


def lines_of(rows: Iterable[Row], tests: Mapping[int, Mapping[str, Test]], without_mode: Mapping[int, str]) -> list[Line]:
    """Return the line of each row: it passes if it has tests in both modes, and all its tests passed.

    ``without_mode`` are the rows that no request's mode can change, each with the reason.
    """
    found = [_line(row, list(tests.get(row.number, {}).values())) for row in rows]
    return [_with_modes(line, tests.get(line.row.number, {}).values(), without_mode.get(line.row.number, "")) for line in found]


def _with_modes(line: Line, tests: Iterable[Test], why_none: str) -> Line:
    modes = [mode for mode in MODES if any(test.mode == mode for test in tests)]
    if line.verdict is not Verdict.PASSED:
        return line
    if why_none:
        return replace(line, modes=f"any: {why_none}")
    missing = ", ".join(mode for mode in MODES if mode not in modes)
    if missing:
        return replace(line, verdict=Verdict.ONE_MODE, happened=f"no test in mode {missing}; mark one, or give the reason")
    return replace(line, modes=", ".join(modes))


def _line(row: Row, tests: list[Test]) -> Line:
    seconds = sum(test.seconds for test in tests)
    bad = [test for test in tests if not test.is_good]
    if bad:
        return Line(row, Verdict.FAILED, "; ".join(test.id for test in bad), seconds)
    if tests:
        return Line(row, Verdict.PASSED, max((" > ".join(test.happened) or test.id for test in tests), key=len), seconds)
    return Line(row, Verdict.MISSING, "no test carries its number", 0)


def is_all_well(table: Iterable[Line]) -> bool:
    """Whether every row passed."""
    return all(line.verdict is Verdict.PASSED for line in table)


def summary(table: Collection[Line]) -> str:
    """The last line; a row without a test is a failure."""
    passed = sum(line.verdict is Verdict.PASSED for line in table)
    return f"FAULTS {passed} passed {len(table) - passed} failed"
