"""Our scripts on a cluster that runs."""

import pytest

from tests.nodes.cluster.running import Running

pytestmark = pytest.mark.local


def test_all_workers_are_idle_when_the_cluster_is_in_service(cluster: Running) -> None:
    assert cluster.idle(2)
