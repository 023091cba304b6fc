"""The checks of all nodes: who is asked, what comes back, how it is shown."""

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import all_nodes
from hyperpod_node.precheck.check_result import failed, passed, skipped, table_of_node, table_of_nodes

from .conftest import Programs

GOOD = {"slurm daemon": passed("slurmd is active"), "docker": skipped("docker is not installed")}
BAD = {**GOOD, "slurm daemon": failed("slurmd is inactive", "sudo systemctl restart slurmd")}


def test_only_nodes_that_can_start_something_are_asked() -> None:
    programs = Programs(
        {"sinfo": "n1 idle\nn1 idle\nn2 mixed\nn3 allocated\nn4 down*\n", "srun": all_nodes.line_of("n1", GOOD) + "\n"}
    )
    answers, silent = all_nodes.ask(programs, [])
    assert answers == {"n1": GOOD}
    assert {name: result.message for name, result in silent.items()} == {
        "n2": "it printed no result",
        "n3": "its state is allocated",
        "n4": "its state is down*",
    }
    assert "--nodelist n1,n2 --nodes=2" in programs.commands[1]


def test_no_node_is_asked_where_none_is_ready() -> None:
    programs = Programs({"sinfo": "n1 down*\n"})
    assert all_nodes.ask(programs, []) == ({}, {"n1": all_nodes.unasked("down*")})
    assert len(programs.commands) == 1


def test_nodes_on_which_srun_says_that_nothing_starts_are_left_out_the_next_time() -> None:
    said = (
        "Task launch for StepId=7.0 failed on node {}: Communication connection failure | srun: error: Application launch failed"
    )
    programs = Programs(
        {
            "sinfo": "n1 idle\nn2 idle\nn3 idle\n",
            "srun --nodelist n1,n2,n3 ": NodeError(said.format("n2")),
            "srun --nodelist n1,n3 ": NodeError(said.format("n3")),
            "srun --nodelist n1 ": all_nodes.line_of("n1", GOOD),
        }
    )
    why = all_nodes.not_started("srun cannot start a step: Communication connection failure")
    assert all_nodes.ask(programs, []) == ({"n1": GOOD}, {"n2": why, "n3": why})


def test_a_cluster_without_a_node_that_starts_anything_is_asked_once() -> None:
    programs = Programs({"sinfo": "n1 idle\n", "srun": NodeError("Task launch for StepId=7.0 failed on node n1: timed out")})
    assert all_nodes.ask(programs, []) == ({}, {"n1": all_nodes.not_started("srun cannot start a step: timed out")})
    assert len(programs.commands) == 2


def test_a_node_that_cannot_start_anything_and_is_not_named_does_not_hide_the_others() -> None:
    broken = NodeError("`srun ...` ended with status 233: unable to create step")
    programs = Programs(
        {
            "sinfo": "n1 idle\nn2 idle\n",
            "srun --nodelist n1,n2 ": broken,
            "srun --nodelist n1 ": all_nodes.line_of("n1", GOOD),
            "srun --nodelist n2 ": broken,
        }
    )
    answers, silent = all_nodes.ask(programs, [])
    assert answers == {"n1": GOOD}
    assert silent == {"n2": all_nodes.not_started("status 233: unable to create step")}
    assert "systemctl restart slurmd" in silent["n2"].fix


@pytest.mark.parametrize(
    ("state", "fix"),
    [
        ("allocated", "check again when they have ended"),
        ("drained", "sinfo --list-reasons"),
        ("draining*", "sinfo --list-reasons"),
        ("down*", "sudo systemctl restart slurmd"),
        ("allocated*", "sudo systemctl restart slurmd"),
        ("unknown", "sudo systemctl restart slurmd"),
    ],
)
def test_a_node_that_is_not_asked_has_the_fix_of_its_state(state: str, fix: str) -> None:
    result = all_nodes.unasked(state)
    assert result.message == f"its state is {state}"
    assert fix in result.fix


def test_what_is_required_is_required_of_every_node() -> None:
    programs = Programs({"sinfo": "n1 idle\n", "srun": ""})
    all_nodes.ask(programs, ["docker data root"])
    assert programs.commands[1].endswith("hyperpod-precheck --json --require 'docker data root'; true")


def test_what_else_is_printed_does_not_disturb_the_answers() -> None:
    said = f"Welcome!\n{all_nodes.line_of('n1', GOOD)}\nwarning: {{}}\n{all_nodes.line_of('n2', BAD)}\n"
    assert all_nodes.parse(said) == {"n1": GOOD, "n2": BAD}


def test_an_answer_that_is_cut_is_an_error() -> None:
    with pytest.raises(NodeError, match="is incomplete"):
        all_nodes.parse(all_nodes.line_of("n1", GOOD)[:40])


def test_an_answer_of_another_version_names_the_node() -> None:
    line = '{"host": "n1", "results": {"docker": {"state": "PASS", "outcome": "fine"}}}'
    with pytest.raises(NodeError, match=r"^n1 has another version of hyperpod-precheck"):
        all_nodes.parse(line)


def test_one_failure_of_many_nodes_is_reported_once_with_their_names() -> None:
    silent = {name: failed(f"its state is {state}", "restart it") for name, state in (("n5", "down"), ("n4", "down*"))}
    assert table_of_nodes({"n2": BAD, "n1": BAD, "n3": GOOD}, silent) == (
        "node  slurm daemon  docker\n"
        "n1    FAIL          SKIP\n"
        "n2    FAIL          SKIP\n"
        "n3    PASS          SKIP\n"
        "n4    no answer: its state is down*\n"
        "n5    no answer: its state is down\n"
        "\n"
        "FAIL slurm daemon on n1, n2: slurmd is inactive\n"
        "  -> sudo systemctl restart slurmd\n"
        "\n"
        "no answer from n4, n5\n"
        "  -> restart it"
    )


def test_a_failure_of_one_node_is_followed_by_its_fix() -> None:
    assert table_of_node("n1 (compute)", BAD) == (
        "n1 (compute)\n"
        "  FAIL  slurm daemon  slurmd is inactive\n"
        "                      -> sudo systemctl restart slurmd\n"
        "  SKIP  docker        docker is not installed"
    )


def test_only_silent_nodes_still_make_a_table() -> None:
    said = table_of_nodes({}, {"n1": failed("its state is down*", "restart it")})
    assert said == "n1    no answer: its state is down*\n\nno answer from n1\n  -> restart it"
