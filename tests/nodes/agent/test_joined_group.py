"""A group that joins in scripts mode: neither the agent nor the controller's settings know its partition and hardware."""

import pytest

from local_aws.nodes.agent.behaviour import Behaviour
from tests.local.hyperpod.world import until
from tests.node_settings import Json, user
from tests.nodes.agent.conftest import Create
from tests.nodes.agent.test_unkind_agent import is_whole
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import GRES, ONE_GPU, TYPES

pytestmark = pytest.mark.local


def test_a_group_that_joins_gets_its_partition_and_its_gpus(create: Create, file_system: Json) -> None:
    cluster = create(Behaviour(gres="none"), {"controller": 1, "others": 1}, known={})
    is_whole(cluster)
    groups = [{"instance_group_name": name, "partition_name": name} for name in ("others", "joined")]
    settings = {"users": [user("alice", 10001)], "instance_types": TYPES}
    lay(cluster.world, Bundle({**file_system, "worker_groups": groups}, settings))
    cluster.types["joined"] = ONE_GPU
    cluster.resize("joined", 1)

    look = ("sinfo", "--noheader", "--partition=joined", "--format=%T %G")
    until(lambda: cluster.run("controller-1", *look), lambda seen: seen == f"idle {GRES[ONE_GPU]}", UP_S)
    is_whole(cluster)
    assert (
        cluster.run("controller-1", "srun", "--partition=joined", "--gpus=1", "hostname") == cluster.machine("joined-1")["host"]
    )
