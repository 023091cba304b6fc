"""The pods on nodes, with few calls also in large clusters."""

import pytest

from cli.kubernetes.client import OperatorClient
from cli.kubernetes.pods import FEW, pods_on
from tests.unit.cli.fake_eks import FakeApiServer


@pytest.mark.parametrize(("chosen", "calls"), [(1, 1), (FEW, FEW), (FEW + 1, 40)])
def test_the_pods_of_few_nodes_take_a_call_for_each_node(chosen: int, calls: int) -> None:
    server = FakeApiServer()
    server.page_size = 1
    for number in range(40):
        server.pod(f"research/train-{number}", f"i-{number:02}")
    nodes = frozenset(f"hyperpod-i-{number:02}" for number in range(chosen))
    found = pods_on(OperatorClient("draft", server, "token"), nodes)
    assert {pod.node for pod in found} == nodes
    assert len(server.calls) == calls
