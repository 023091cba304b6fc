"""When a row of the table passes, and what it says."""

from types import SimpleNamespace
from typing import Literal, cast

import pytest

from tests.faults_table.recording import mode_of, pytest_runtest_setup, requested
from tests.faults_table.rows import Row
from tests.faults_table.verdicts import MODES, Collected, Line, Verdict, is_all_well, lines_of, summary

When = Literal["setup", "call", "teardown"]
ANY = dict.fromkeys((1, 2), "it burns in any mode")
ROWS = [Row(1, "it breaks", "it mends"), Row(2, "it burns", "it is put out")]


def report(
    outcome: Literal["passed", "failed", "skipped"],
    *,
    row: int = 1,
    name: str = "test_it_mends",
    when: When = "call",
    mode: str = "",
) -> pytest.TestReport:
    """What pytest says of a part of a test."""
    properties: list[tuple[str, object]] = [("fault", row), ("mode", mode)]
    place = ("tests/unit/test_it.py", 0, name)
    return pytest.TestReport(
        f"tests/unit/test_it.py::{name}", place, {}, outcome, None, when, duration=0.5, user_properties=properties
    )


def lines(*reports: pytest.TestReport, without_mode: dict[int, str] = ANY) -> list[Line]:
    collected = Collected()
    for each in reports:
        collected.pytest_runtest_logreport(each)
    return lines_of(ROWS, collected.tests, without_mode)


def test_a_row_passes_when_all_of_its_tests_passed() -> None:
    first, _ = lines(report("passed"), report("passed", name="test_it_mends_twice"))
    assert (first.verdict, first.seconds) == (Verdict.PASSED, 1.0)


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_a_row_fails_when_one_of_its_tests_did_not_pass(outcome: Literal["failed", "skipped"]) -> None:
    first, _ = lines(report("passed"), report(outcome, name="test_it_stays_well"))
    assert first.verdict is Verdict.FAILED
    assert first.happened == "tests/unit/test_it.py::test_it_stays_well"


@pytest.mark.parametrize(("when", "outcome"), [("setup", "failed"), ("setup", "skipped"), ("teardown", "failed")])
def test_a_test_that_never_ran_or_whose_clean_up_failed_is_no_pass(when: When, outcome: Literal["failed", "skipped"]) -> None:
    ran = [report("passed")] if when == "teardown" else []
    first, _ = lines(*ran, report(outcome, when=when))
    assert first.verdict is Verdict.FAILED


def test_a_row_without_a_test_is_a_failure() -> None:
    table = lines(report("passed"))
    assert table[1].verdict is Verdict.MISSING
    assert not is_all_well(table)
    assert summary(table) == "FAULTS 1 passed 1 failed"


def test_a_row_names_the_modes_of_its_tests() -> None:
    both = [report("passed", name=f"test_{mode}", mode=mode) for mode in MODES]
    first, _ = lines(*both, without_mode={})
    assert (first.verdict, first.modes) == (Verdict.PASSED, "scripts, api")


@pytest.mark.parametrize(("mode", "missing"), [("scripts", "api"), ("api", "scripts"), ("", "scripts, api")])
def test_a_row_that_ran_in_one_mode_is_a_failure(mode: str, missing: str) -> None:
    table = lines(report("passed", mode=mode), report("passed", row=2), without_mode={2: "one template serves both"})
    assert (table[0].verdict, table[1].modes) == (Verdict.ONE_MODE, "any: one template serves both")
    assert table[0].happened.startswith(f"no test in mode {missing};")
    assert not is_all_well(table)
    assert summary(table) == "FAULTS 1 passed 1 failed"


def test_a_mode_counts_only_if_the_test_made_a_request_of_it() -> None:
    item = cast(
        "pytest.Item", SimpleNamespace(callspec=SimpleNamespace(params={"mode": "api"}), user_properties=[], iter_markers=none)
    )
    pytest_runtest_setup(item)
    requested("scripts")
    assert mode_of(item) == ""
    requested("api")
    assert mode_of(item) == "api"


def none(_: str) -> list[pytest.Mark]:
    return []
