"""The real `cdk deploy` and `cdk destroy` while things go wrong, with our resource and with CDK's stock Provider."""

from collections.abc import Callable

import pytest

from tests.whole_stack.comparison import Comparison
from tests.whole_stack.laboratory import Laboratory
from tests.whole_stack.outcome import suffer
from tests.whole_stack.scenarios import SCENARIOS, Scenario

pytestmark = [pytest.mark.cdk, pytest.mark.local]

FOR_BOTH = [scenario for scenario in SCENARIOS if not scenario.is_for_ours_alone]


def named(scenario: Scenario) -> object:
    """A test's parameter with the rows that it covers."""
    return pytest.param(scenario, id=scenario.title, marks=[pytest.mark.fault(row) for row in scenario.rows])


@pytest.mark.parametrize("scenario", [named(scenario) for scenario in SCENARIOS])
def test_our_stack_ends_as_it_must_and_no_cluster_leaks(
    lab: Laboratory, comparison: Comparison, scenario: Scenario, record_property: Callable[[str, object], None]
) -> None:
    outcome = suffer(scenario, lab.worlds["ours"])
    comparison.note(scenario.title, "ours", outcome)
    record_property("happened", f"cdk against the whole stack: {outcome.status} after {outcome.minutes:.0f} minutes of AWS's")
    assert outcome.defects == [], lab.worlds["ours"].printed[-1]


@pytest.mark.parametrize("scenario", FOR_BOTH, ids=[scenario.title for scenario in FOR_BOTH])
def test_the_stock_provider_is_driven_through_the_same(lab: Laboratory, comparison: Comparison, scenario: Scenario) -> None:
    outcome = suffer(scenario, lab.worlds["stock"])
    comparison.note(scenario.title, "stock", outcome)
    assert outcome.minutes > 0, "what comes of it is printed, and not ours to demand"


def test_both_went_through_at_least_ten_faults_and_ours_has_no_defect(comparison: Comparison) -> None:
    assert len(comparison.of("stock")) == len(FOR_BOTH) >= 10
    assert [outcome.defects for outcome in comparison.of("ours")] == [[] for _ in SCENARIOS]
