"""Which steps a node takes, in which order, and what is left of one that fails."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import pytest

from hyperpod_node import plan
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import API, SCRIPTS
from hyperpod_node.plan import STEPS, Step, run_live_steps, run_steps
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER, LOGIN
from hyperpod_node.system import SYSTEM, System
from tests.unit.hyperpod_node.a_node import a_context


@dataclass
class Taken:
    """The steps that a node took."""

    titles: list[str] = field(default_factory=list)

    def step(self, title: str, *roles: str) -> Step:
        return Step(title, lambda *_: self.titles.append(title), roles or plan.EVERY_ROLE)


@pytest.mark.parametrize("role", [CONTROLLER, LOGIN, COMPUTE])
def test_a_node_takes_the_steps_of_its_role_in_order(role: str, capsys: pytest.CaptureFixture[str]) -> None:
    context = a_context()
    taken = Taken()
    steps = tuple(taken.step(*words) for words in (("mount",), ("other", *{CONTROLLER, LOGIN, COMPUTE} - {role}), ("own", role)))
    run_steps(replace(context, role=role), SYSTEM, steps)
    assert taken.titles == ["mount", "own"]
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["mount", "own"]


@pytest.mark.fault(61)
@pytest.mark.parametrize(
    ("error", "message", "is_mistake"),
    [
        (NodeError("`mount /fsx` ended with status 5: no space"), "`mount /fsx` ended with status 5: no space", False),
        (
            OSError(28, "No space left on device", "/etc/fstab"),
            *("[Errno 28] No space left on device: '/etc/fstab'", False),
        ),
        (KeyError("first\nsecond"), r"unexpected KeyError: 'first\nsecond'", True),
    ],
    ids=["a failing program", "a full disk", "a mistake in the step"],
)
def test_a_failing_step_ends_the_node_with_its_title_in_one_line(
    error: Exception, message: str, is_mistake: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(context: Context, system: System) -> None:
        raise error

    taken = Taken()
    with pytest.raises(NodeError, match=f"^step 'storage': {re.escape(message)}$"):
        run_steps(a_context(), SYSTEM, (Step("storage", fail), taken.step("later")))
    assert taken.titles == []
    assert ("Traceback" in capsys.readouterr().err) == is_mistake


def test_a_step_that_does_not_concern_the_node_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    taken = Taken()
    run_steps(
        a_context(), SYSTEM, (Step("no file system", lambda *_: False), Step("a file system", lambda *_: True), taken.step("ssh"))
    )
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["a file system", "ssh"]


BEFORE = (
    ("wait until the node is ready", "mount OpenZFS at /home"),
    ("wait until the node is ready", "mount FSx at /fsx"),
    ("mount OpenZFS at /home", "groups and users"),
    ("mount FSx at /fsx", "groups and users"),
    ("metadata service", "groups and users"),
    ("groups and users", "ssh between nodes"),
    ("groups and users", "message of the day"),
)


@pytest.mark.parametrize(("first", "then"), BEFORE)
def test_what_a_step_needs_comes_before_it(first: str, then: str) -> None:
    titles = [step.title for step in STEPS]
    assert titles.index(first) < titles.index(then)


LIVE = {
    CONTROLLER: {"slurm.conf", "Slurm's accounting"},
    LOGIN: set(),
    COMPUTE: {"ssh for users with jobs"},
}
LIVE_ON_ALL = {
    "metadata service",
    "groups and users",
    "message of the day",
    "ssh between nodes",
    "log rotation",
    "hyperpod-precheck",
    "directory",
    "your live scripts",
    "follow the cluster file",
}


@pytest.mark.parametrize("role", [CONTROLLER, LOGIN, COMPUTE])
def test_only_these_steps_change_running_nodes(role: str) -> None:
    live = {step.title for step in STEPS if step.live and role in step.roles}
    assert live == LIVE[role] | LIVE_ON_ALL, "add a step here only if it may change nodes on which jobs run"


def test_a_running_node_takes_the_live_steps_of_its_role() -> None:
    taken, live = Taken(), Taken()
    steps = (
        replace(taken.step("users"), live=live.step("users").apply),
        taken.step("mount"),
        replace(taken.step("slurm.conf", CONTROLLER), live=live.step("slurm.conf").apply),
    )
    run_live_steps(a_context(), SYSTEM, steps)
    assert (taken.titles, live.titles) == ([], ["users"])


def test_the_agent_is_installed_last_from_scripts_that_were_copied_first() -> None:
    assert (STEPS[0].title, STEPS[-1].title) == ("copy of the scripts", "follow the cluster file")


def test_the_user_s_own_scripts_run_around_slurm_s_steps() -> None:
    titles = [step.title for step in STEPS]
    own = [titles.index(f"your scripts {point}") for point in ("before Slurm", "after Slurm", "for the cluster")]
    slurm = [titles.index(title) for title in ("slurmctld", "slurmd")]
    assert own == sorted(own)
    assert own[0] < min(slurm)
    assert max(slurm) < own[1]
    assert STEPS[own[2]].roles == (CONTROLLER,)


@pytest.mark.parametrize("role", [CONTROLLER, LOGIN, COMPUTE])
def test_where_hyperpod_configures_slurm_the_scripts_leave_mounts_and_disks_to_it(role: str) -> None:
    titles = {setup: [step.title for step in STEPS if role in step.roles and setup in step.setups] for setup in (SCRIPTS, API)}
    assert set(titles[SCRIPTS]) - set(titles[API]) == {"mount OpenZFS at /home", "mount FSx at /fsx", "disk for containers"}
    assert set(titles[API]) - set(titles[SCRIPTS]) == {"HyperPod's mounts"}


def test_a_node_takes_only_the_steps_of_its_setup() -> None:
    context, taken = a_context(), Taken()
    settings = replace(context.settings, slurm=replace(context.settings.slurm, setup=API))
    steps = (replace(taken.step("scripts"), setups=(SCRIPTS,)), replace(taken.step("api"), setups=(API,)), taken.step("both"))
    run_steps(replace(context, settings=settings), SYSTEM, steps)
    assert taken.titles == ["api", "both"]
