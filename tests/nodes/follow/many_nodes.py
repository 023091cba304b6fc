"""How long a new user takes to reach many running nodes: `pytest -s tests/nodes/follow/many_nodes.py`. Takes minutes.

The deployment ends when all nodes have reported the new bundle; after that, each node is tried once.
"""

import os
import time

import pytest

from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.nodes.cluster import running
from tests.nodes.follow.following import LOG_GROUP, NEW_KEY, PARAMETER, bundle, following
from tests.nodes.follow.rollout import Rollout

pytestmark = pytest.mark.local
__all__ = ["aws", "nodes"]

WORKERS = int(os.environ.get("WORKERS", "62"))
EVERY_S = 20
LOGIN = "ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o ConnectTimeout=20 -i /root/carol carol@{} id -un"
REACHABLE_S = 120.0


def test_a_new_user_can_log_in_on_every_node_two_minutes_after_the_deployment(
    aws: EmbeddedAws, nodes: SimulatedNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "UP_S", 600.0)
    with following(aws, nodes, every_s=EVERY_S, workers=WORKERS) as cluster:
        rollout = Rollout(cluster.world, cluster.name, PARAMETER, LOG_GROUP)
        old = rollout.upload(bundle(), "lifecycle/old/")
        carol = rollout.upload(bundle(cluster.run("login-1", "sh", "-c", NEW_KEY)), "lifecycle/new/")
        started = time.monotonic()
        answer = rollout.update(carol, old)
        ended = time.monotonic()
        addresses = [one["address"] for one in nodes.describe() if one["cluster"] == cluster.name]
        names = [cluster.run("login-1", "sh", "-c", LOGIN.format(address)).splitlines()[-1] for address in addresses]
        reached = time.monotonic()
        print(f"\n{len(names)} nodes: {ended - started:.0f} s for the rollout, {reached - ended:.0f} s to log in on each")
        assert answer["Data"] == {"Rollout": f"applied on {WORKERS + 2} of {WORKERS + 2} nodes"}
        assert names == ["carol"] * (WORKERS + 2)
        assert reached - ended < REACHABLE_S
