"""`hpod nodes` lists every name of every node."""

import json

from cli.nodes import nodes
from cli.remote.sessions import SessionError
from cli.remote.shell import Output
from tests.unit.cli.fake_nodes import FakeNodes, FakeShell, resource_config

WIDTH = 80


def test_the_names_of_a_node_are_side_by_side_in_80_columns() -> None:
    text = str(nodes(FakeNodes().deployment(), FakeShell(Output(0, resource_config()))))
    lines = [line.split() for line in text.splitlines()]
    assert ["i-0000000000000000c", "workers-1", "ip-10-1-0-9", "10.1.0.9", "Running", "1.2.3"] in lines
    assert "group workers (compute, ml.t3.medium)" in text
    assert "`./hpod ssh draft NODE`" in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_unknown_names_are_dashes_with_the_reason() -> None:
    result = nodes(FakeNodes().deployment(), FakeShell(SessionError("head: not connected")))
    assert ["i-0000000000000000c", "-", "ip-10-1-0-9", "10.1.0.9", "Running", "1.2.3"] in [
        line.split() for line in str(result).splitlines()
    ]
    assert "HyperPod's names are unknown: head: not connected" in str(result)
    assert json.loads(json.dumps(result.data))["nodes"][0]["name"] is None


def test_a_cluster_without_nodes_says_so() -> None:
    account = FakeNodes()
    account.summaries = []
    assert str(nodes(account.deployment(), FakeShell())).endswith("no nodes")
