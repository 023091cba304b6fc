"""The real `cdk deploy` and `cdk destroy` while things go wrong."""

from collections.abc import Callable

import pytest

from tests.whole_stack.outcome import suffer
from tests.whole_stack.scenarios import SCENARIOS, Scenario
from tests.whole_stack.world import World

pytestmark = [pytest.mark.cdk, pytest.mark.local]


def named(scenario: Scenario) -> object:
    """A test's parameter with the rows that it covers."""
    return pytest.param(scenario, id=scenario.title, marks=[pytest.mark.fault(row) for row in scenario.rows])


@pytest.mark.parametrize("scenario", [named(scenario) for scenario in SCENARIOS])
def test_our_stack_ends_as_it_must_and_no_cluster_leaks(
    world: World, scenario: Scenario, record_property: Callable[[str, object], None]
) -> None:
    outcome = suffer(scenario, world)
    record_property("happened", f"cdk against the whole stack: {outcome.status} after {outcome.minutes:.0f} minutes of AWS's")
    assert outcome.defects == [], world.printed[-1]
