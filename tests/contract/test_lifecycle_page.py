"""docs/operate/lifecycle.md says what happens on a node: what it says is what the scripts do."""

import re
from dataclasses import fields

import pytest

from constructs.hyperpod.lifecycle.script_bundle import GENERATED
from hyperpod_node import mount, packages, plan
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.slurm import accounting_daemon, controller_daemon, controllers, database
from hyperpod_node.steps import (
    directory,
    extra_scripts,
    readiness,
    slurm_client,
    slurm_controller,
)
from stacks.clusters_app import PROJECT
from tests.unit.hyperpod_node.a_node import a_context
from validation.rules.common.lifecycle import MAX_FILES, MAX_MIB, SCRIPT_FOLDERS

PAGE = (PROJECT / "docs" / "operate" / "lifecycle.md").read_text()
WHERE = {
    plan.EVERY_ROLE: "all",
    ("controller",): "controllers",
    ("compute",): "compute nodes",
    ("login",): "login nodes",
}

WAITS = {
    "the address of a file system": readiness.ADDRESS_TIMEOUT_S,
    "the end of other installations": readiness.INSTALLATIONS_TIMEOUT_S,
    "a file system": mount.TIMEOUT_S,
    "your scripts": extra_scripts.TIMEOUT_S,
    "munge's key": slurm_controller.AGENT_TIMEOUT_S,
    "slurm.conf": slurm_controller.AGENT_TIMEOUT_S,
    "apt": packages.TIMEOUT_S,
    "a server of the directory": directory.OUTAGE_S,
    "MariaDB": database.TIMEOUT_S,
    "slurmdbd": accounting_daemon.TIMEOUT_S,
    "slurmctld on its own node": controller_daemon.TIMEOUT_S,
    "the first controller": slurm_controller.FIRST_TIMEOUT_S,
    "a controller": controllers.TIMEOUT_S,
    "slurmctld to know a compute node": slurm_client.REGISTRATION_TIMEOUT_S,
    "Slurm's commands": slurm_client.COMMANDS_TIMEOUT_S,
}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below the row of headings that begins so."""
    table = PAGE[PAGE.index(f"| {heading} |") :].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_steps_stand_in_their_order_with_the_nodes_that_take_them() -> None:
    assert [(row[0], row[1]) for row in rows("step")] == [(step.title, WHERE[step.roles]) for step in plan.STEPS]
    only = {row[0]: found[1] for row in rows("step") if (found := re.search(r"only with `slurm\.setup: (\w+)`", row[2]))}
    assert only == {step.title: step.setups[0] for step in plan.STEPS if len(step.setups) == 1}


def test_each_point_of_extra_scripts_is_described() -> None:
    assert [row[0].strip("`/") for row in rows("folder")] == list(SCRIPT_FOLDERS)


@pytest.mark.parametrize("point", SCRIPT_FOLDERS)
def test_the_scripts_of_each_point_are_run_by_a_step_of_that_name(point: str) -> None:
    assert getattr(extra_scripts, point) in [step.apply for step in plan.STEPS]


def test_each_variable_of_extra_scripts_is_described() -> None:
    assert {row[0].strip("`") for row in rows("variable")} == extra_scripts.environment(a_context()).keys()


def test_the_files_that_are_written_here_are_named() -> None:
    assert set(re.findall(r"^- `(\w+\.json)`", PAGE, re.MULTILINE)) == GENERATED


def test_the_limits_are_those_of_the_rule() -> None:
    assert f"At most {MAX_FILES:,} files and {MAX_MIB} MiB" in PAGE


def test_each_wait_is_as_long_as_the_page_says() -> None:
    said = rows("waits for")
    assert [row[0][: len(what)] for row, what in zip(said, WAITS, strict=True)] == list(WAITS)
    assert [row[1] for row in said] == [f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s" for seconds in WAITS.values()]


def test_each_fact_of_node_settings_is_named() -> None:
    written = re.search(r"^- `node_settings\.json` with (.*?)\. Our", PAGE, re.MULTILINE | re.DOTALL)
    assert written
    named = set(re.findall(r"`(\w+)`", written[1]))
    assert named == {"version", *(field.name for field in fields(NodeSettings) if field.name != "path")}
