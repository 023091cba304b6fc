"""The node that a command line names."""

import pytest

from local_aws import node_commands
from local_aws.process import ProcessError


def node(cluster: str, name: str, role: str, number: int) -> dict[str, str]:
    place = {"id": f"i-{number}", "host": f"ip-10-1-0-{number}", "address": f"10.1.0.{number}", "folder": "/x"}
    return {"cluster": cluster, "name": name, "group": name.rpartition("-")[0], "role": role, "status": "Running", **place}


ML = [node("ml", "head-1", "controller", 4), node("ml", "work-1", "compute", 5), node("ml", "door-1", "login", 6)]
TWO = [*ML, node("other", "work-1", "compute", 7)]


@pytest.mark.parametrize("name", ["work-1", "i-5", "ip-10-1-0-5", "10.1.0.5"])
def test_a_node_has_many_names(name: str) -> None:
    assert node_commands.choose(ML, name)["id"] == "i-5"


@pytest.mark.parametrize(
    ("nodes", "name", "chosen"), [(ML, None, "i-6"), (TWO, "ml", "i-6"), (ML[:2], None, "i-4"), (TWO, "other", "i-7")]
)
def test_a_cluster_stands_for_its_login_node_or_else_its_controller(
    nodes: list[dict[str, str]], name: str | None, chosen: str
) -> None:
    assert node_commands.choose(nodes, name)["id"] == chosen


@pytest.mark.parametrize(
    ("nodes", "name", "text"),
    [
        ([], None, "no node is running; deploy a cluster first"),
        (TWO, None, "several clusters are running; use one of ml, other"),
        (TWO, "work-1", "several nodes are called 'work-1'; use an instance id: i-5 of ml, i-7 of other"),
        (ML, "wrok-1", "unknown node or cluster 'wrok-1'; available:"),
    ],
)
def test_a_name_that_stands_for_no_one_node_is_explained(nodes: list[dict[str, str]], name: str | None, text: str) -> None:
    with pytest.raises(ProcessError, match=text):
        node_commands.choose(nodes, name)


@pytest.mark.parametrize(
    ("words", "name", "command"),
    [
        ([], None, []),
        (["ml"], "ml", []),
        (["ml", "--", "sinfo", "-N"], "ml", ["sinfo", "-N"]),
        (["ml", "sinfo"], "ml", ["sinfo"]),
        (["--", "sinfo"], None, ["sinfo"]),
    ],
)
def test_a_command_may_follow_the_name(words: list[str], name: str | None, command: list[str]) -> None:
    assert node_commands.read(words) == (name, command)


def test_the_table_has_a_line_for_each_node() -> None:
    head, first, *_ = node_commands.table(ML).splitlines()
    assert head.split() == ["cluster", "name", "role", "status", "address", "host", "id"]
    assert first.split() == ["ml", "head-1", "controller", "Running", "10.1.0.4", "ip-10-1-0-4", "i-4"]


def test_the_environment_chooses_how_the_agent_behaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERPOD_AGENT", "node_lines_after_s=0")
    assert node_commands.behaviour().node_lines_after_s == 0
    monkeypatch.setenv("HYPERPOD_AGENT", "node_lines=late")
    with pytest.raises(ProcessError, match="HYPERPOD_AGENT: unknown node_lines 'late'"):
        node_commands.behaviour()
