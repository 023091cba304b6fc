"""docs/lifecycle.md says what happens on a node: what it says is what the scripts do."""

import re

import pytest

from config.rules.lifecycle import MOST_FILES, MOST_MIB, POINTS
from constructs.hyperpod.script_bundle import WRITTEN_HERE
from hyperpod_node import plan
from hyperpod_node.steps import extra_scripts
from stacks.clusters_app import PROJECT
from tests.unit.hyperpod_node.a_node import a_context

PAGE = (PROJECT / "docs" / "lifecycle.md").read_text()
WHERE = {
    plan.EVERY_ROLE: "all",
    ("controller",): "controllers",
    ("compute",): "compute nodes",
    ("login",): "login nodes",
}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below the row of headings that begins so."""
    table = PAGE[PAGE.index(f"| {heading} |") :].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_steps_stand_in_their_order_with_the_nodes_that_take_them() -> None:
    assert [(row[0], row[1]) for row in rows("step")] == [(step.title, WHERE[step.roles]) for step in plan.STEPS]


def test_each_point_of_extra_scripts_is_described() -> None:
    assert [row[0].strip("`/") for row in rows("folder")] == list(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_the_scripts_of_each_point_are_run_by_a_step_of_that_name(point: str) -> None:
    assert getattr(extra_scripts, point) in [step.apply for step in plan.STEPS]


def test_each_variable_of_extra_scripts_is_described() -> None:
    assert {row[0].strip("`") for row in rows("variable")} == extra_scripts.environment(a_context()).keys()


def test_the_files_that_are_written_here_are_named() -> None:
    assert set(re.findall(r"^- `(\w+\.json)`", PAGE, re.MULTILINE)) == WRITTEN_HERE


def test_the_limits_are_those_of_the_rule() -> None:
    assert f"At most {MOST_FILES:,} files and {MOST_MIB} MiB" in PAGE
