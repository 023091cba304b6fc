"""A cluster with GPU nodes, and what Slurm says of them."""

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass

from local_aws.hyperpod import service_behaviour
from local_aws.nodes.runner import SimulatedNodes
from tests.node_settings import Json, slurm
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import UP_S, Running
from tests.simulator.hyperpod.world import World, until

JOINS = int(os.environ.get("GPU_JOINS", "2"))
KEEPER = "hyperpod-slurm-conf"
SLURMCTLD_LOG = "/var/log/slurm/slurmctld.log"
ONE_GPU, FOUR_GPUS = "ml.g5.8xlarge", "ml.g5.12xlarge"
GRES = {ONE_GPU: "gpu:a10g:1", FOUR_GPUS: "gpu:a10g:4"}
TYPES: Json = {
    ONE_GPU: {"sockets": 1, "cores_per_socket": 16, "gpus": 1, "gpu": "a10g", "efa": False},
    FOUR_GPUS: {"sockets": 1, "cores_per_socket": 24, "gpus": 4, "gpu": "a10g", "efa": False},
}


@dataclass
class GpuCluster:
    """A controller and groups of workers, each of one type."""

    running: Running

    @classmethod
    def create(
        cls,
        world: World,
        nodes: SimulatedNodes,
        file_system: Json,
        groups: Mapping[str, str],
        *,
        later: tuple[str, ...] = (),
        in_slurm: Json | None = None,
    ) -> "GpuCluster":
        """Create it with one node in each of ``groups``, which are name -> instance type; ``later`` are added by a test."""
        layout = [{"instance_group_name": name, "partition_name": name} for name in (*groups, *later)]
        bundle = Bundle({**file_system, "worker_groups": layout}, {"instance_types": TYPES, "slurm": slurm(**in_slurm or {})})
        running = Running(
            world, nodes, {"controller": 1, **dict.fromkeys(groups, 1)}, scripts=lay(world, bundle), types=dict(groups)
        )
        running.create()
        return cls(running)

    def controller(self, script: str) -> str:
        """What a script prints on the controller."""
        return self.running.run("controller-1", "bash", "-c", script)

    def let_nodes_join(self, *groups: str) -> int:
        """Let at least GPU_JOINS nodes join the groups in turn, each node idle before the next; return how many did."""
        joined, running = 0, self.running
        for group, more in zip(itertools.cycle(groups), itertools.cycle((1, 2)), strict=False):
            before = running.groups[group]
            running.resize(group, before + more)
            self.until_all_idle_with_gpus()
            self.replace(*(f"{group}-{before + number}" for number in range(1, more + 1)))
            self.until_all_idle_with_gpus()
            joined += 2 * more
            if joined >= JOINS:
                break
            running.resize(group, before)
        return joined

    def replace(self, *names: str) -> None:
        """Replace nodes, and wait until the new ones are in service, which join Slurm under new names."""
        service_behaviour.choose({"replaced_address": "new"})
        ids = [self.running.machine(name)["id"] for name in names]
        self.running.world.sagemaker.batch_replace_cluster_nodes(ClusterName=self.running.name, NodeIds=ids)
        self.running.settle()

    def gpus(self) -> dict[str, str]:
        """Each worker's state and GPUs, as `{"ip-10-1-0-7": "idle gpu:a10g:1"}`; nothing while Slurm cannot read slurm.conf.

        That is for a second or two after an agent has written `Topology=` into it.
        """
        said = self.controller("sinfo --noheader --Node --partition=dev --format='%N %T %G' 2>/dev/null || true")
        return dict(line.split(" ", 1) for line in said.splitlines())

    def until_all_idle_with_gpus(self) -> None:
        """Wait until all workers that the cluster should have are idle, with all their GPUs."""
        running = self.running
        expected = {
            one["host"]: f"idle {GRES[running.types[one['group']]]}"
            for one in running.runner.describe()
            if one["group"] in running.types
        }
        assert len(expected) == sum(running.groups[group] for group in running.types)
        until(self.gpus, lambda gpus: gpus == expected, UP_S)

    def drains(self) -> int:
        """How often slurmctld drained a node for GPUs that it lacked."""
        return int(self.controller(f"grep -c 'state to INVAL with reason:gres' {SLURMCTLD_LOG} || true"))
