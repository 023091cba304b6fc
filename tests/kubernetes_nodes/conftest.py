"""HyperPod clusters on EKS whose nodes run pods: they need root and what `make kubernetes-nodes-setup` brings."""

import pytest

from local_aws import durations
from local_aws.eks import control_planes
from local_aws.kubernetes import support as planes
from local_aws.nodes import support
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.kubernetes_nodes.cluster import Cluster
from tests.nodes.walk.conftest import client, workspace
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import World

__all__ = ["aws", "client", "nodes", "workspace"]

ON_CREATE = "#!/bin/bash\necho run >>/var/lib/runs\n"


@pytest.fixture(scope="session", autouse=True)
def _able() -> None:
    reasons = planes.missing() + support.missing() + support.missing_for_pods()
    if reasons:
        pytest.exit(f"pods cannot run here: {'; '.join(reasons)}", returncode=1)


@pytest.fixture(scope="module")
def created(aws: EmbeddedAws, nodes: SimulatedNodes) -> Cluster:
    """A cluster before it has nodes."""
    nodes.behaviour = Behaviour(apt_lock_s=0)
    world = World(aws.endpoint)
    world.make()
    world.put_script("on_create.sh", ON_CREATE)
    world.allow_all_but()
    site = EksSite(world)
    control_planes.use(control_planes.REAL)
    site.make()
    durations.change({"eks.create": 1, "eks.access": 1})
    return Cluster(site, nodes)
