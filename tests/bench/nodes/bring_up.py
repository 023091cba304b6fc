"""Brings up one cluster on the embedded AWS, by CreateCluster alone, and measures it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes, simulated_nodes
from local_aws.nodes.specs import Vpc
from local_aws.server import EmbeddedAws
from local_aws.testing import SPEED
from tests.bench.nodes.figures import CONTROLLER, LOGIN, WORKERS, Figures, figures
from tests.bench.nodes.measuring_hub import Bringup, MeasuringHub
from tests.node_settings import LOCAL_DATABASE, user
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.simulator.hyperpod.world import World

WITHIN_S = 900.0
USERS = [user("alice", 10001), user("bob", 10002)]
_LOOK_S = 0.5


@dataclass
class Account:
    """An account with what a cluster needs, whose nodes run and are measured."""

    world: World
    runner: SimulatedNodes
    hubs: list[MeasuringHub]

    def bring_up(self, workers: int) -> Figures:
        """Create a cluster, wait until Slurm has all its workers idle, and delete it."""
        self.hubs.clear()
        groups = [self.world.group(name, count) for name, count in ((CONTROLLER, 1), (LOGIN, 1), (WORKERS, workers))]
        started = time.time()
        self.world.create(*groups)
        self._wait(started, workers)
        roles = {node["id"]: node["group"] for node in self.runner.describe()}
        return figures(started, self._delete(), roles)

    def _wait(self, started: float, workers: int) -> None:
        while True:
            cluster = self.world.cluster()
            if cluster["ClusterStatus"] == "Failed":
                raise HostError(f"the cluster failed: {cluster['FailureMessage']}")
            if cluster["ClusterStatus"] == "InService" and self._is_up(workers):
                return
            if time.time() - started > WITHIN_S:
                idle = len(self.hubs[0].bringup.idle) if self.hubs else 0
                raise HostError(f"{idle} of {workers} workers are idle after {WITHIN_S:g} s; it is {cluster['ClusterStatus']}")
            time.sleep(_LOOK_S)  # between two looks over HTTP, as a client does

    def _is_up(self, workers: int) -> bool:
        if not self.hubs or len(self.hubs[0].bringup.idle) < workers:
            return False
        nodes = self.hubs[0].bringup.nodes.values()
        return len(nodes) == workers + 2 and all(node.is_done for node in nodes)

    def _delete(self) -> Bringup:
        self.world.sagemaker.delete_cluster(ClusterName="ml")
        end = time.time() + WITHIN_S
        while any(hub.lives for hub in self.hubs) or self.world.sagemaker.list_clusters()["ClusterSummaries"]:
            if time.time() > end:
                raise HostError(f"the cluster is not gone {WITHIN_S:g} s after its deletion")
            time.sleep(_LOOK_S)  # as above
        bringup = self.hubs[0].bringup
        if not bringup.has_listened:
            raise HostError("what nodes ask for over the network could not be heard; the reason stands above")
        return bringup


@contextmanager
def account(folder: Path, scripts: Path) -> Iterator[Account]:
    """Run an embedded AWS for the block, whose clusters have nodes that run the scripts; HostError says why it cannot."""
    hubs: list[MeasuringHub] = []

    def make_hub(place: Path, image: Path, vpc: Vpc) -> MeasuringHub:
        hubs.append(MeasuringHub(place, image, vpc))
        return hubs[-1]

    # Waits for the agent and for apt are none of the scripts' time; and scripts of others leave slurm.conf as it is.
    kind = Behaviour(first_slurm_conf="complete", apt_lock_s=0, automatic_topology="none", login_nodes="absent")
    with EmbeddedAws(speed=SPEED) as aws, simulated_nodes(folder / "nodes", aws.endpoint, make_hub, kind) as runner:
        world = World(aws.endpoint)
        world.make()
        world.allow_all_but()
        settings = {"users": USERS, "accounting": LOCAL_DATABASE}
        lay(world, Bundle(parameters=make_file_system(world), settings=settings, source=scripts))
        yield Account(world, runner, hubs)
