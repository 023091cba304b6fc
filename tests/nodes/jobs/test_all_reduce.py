"""The first job of a new user, on two nodes."""

import pytest

from tests.nodes.jobs.submitted import Cluster

pytestmark = pytest.mark.local


def test_two_nodes_get_the_same_right_sums(cluster: Cluster) -> None:
    output = cluster.submit("all_reduce", "all_reduce.sbatch", "--largest-mib=1", "--repeat=2").completed()

    assert "2 nodes with 1 process(es) each" in output
    assert "2 processes, gloo, torch 2." in output
    assert [line.split()[:2] for line in output.splitlines() if " GB/s" in line] == [
        ["1", "KiB"],
        ["16", "KiB"],
        ["256", "KiB"],
        ["1024", "KiB"],
    ]
    assert "all sums are correct on all processes" in output
