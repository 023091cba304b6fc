"""The real `cdk deploy` and `cdk destroy` while things go wrong, with our resource and with CDK's stock Provider."""

import json
from collections.abc import Callable

import pytest

from tests import cluster_files
from tests.whole_stack.assemblies import SMALL
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


def test_no_execution_of_the_stock_provider_can_time_out(lab: Laboratory) -> None:
    """That is why it is spared this fault."""
    [file] = lab.worlds["stock"].assemblies["stock", SMALL].glob("assembly-*/*Cluster*.template.json")
    [machine] = [
        resource["Properties"]
        for resource in json.loads(file.read_text())["Resources"].values()
        if resource["Type"] == "AWS::StepFunctions::StateMachine"
    ]
    assert "framework-isComplete-task" in str(machine["DefinitionString"])
    assert "TimeoutSeconds" not in str(machine["DefinitionString"])


def test_both_went_through_at_least_ten_faults_and_ours_has_no_defect(comparison: Comparison) -> None:
    assert len(comparison.of("stock")) == len(FOR_BOTH) >= 10
    assert [outcome.defects for outcome in comparison.of("ours")] == [[] for _ in SCENARIOS]


def test_the_readme_has_the_measured_figures(comparison: Comparison) -> None:
    readme = (cluster_files.PROJECT / "README.md").read_text()
    assert [line.strip() for line in readme.splitlines() if " faults: " in line] == comparison.totals()
