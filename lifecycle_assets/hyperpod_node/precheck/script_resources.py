"""Rules about what a script asks of Slurm, against what this cluster has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.precheck.finding import error
from hyperpod_node.precheck.sbatch_script import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.finding import Finding
    from hyperpod_node.precheck.sbatch_script import SbatchScript
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")


def partition(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """The partitions that are asked for exist."""
    option = script.option("partition")
    for name in option.value.split(",") if option else ():
        if option and name not in cluster.partitions:
            known = ", ".join(sorted(cluster.partitions))
            yield error(option.line, f"there is no partition {name!r}", f"use one of {known}, or none for the default")


def nodes(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """The nodes that are asked for exist: Slurm would let the job wait for ever."""
    option, asked_partition = script.option("nodes"), script.option("partition")
    fewest = re.match(r"\d+", option.value) if option else None
    names = asked_partition.value.split(",") if asked_partition else list(cluster.partitions)
    most = max((cluster.partitions.get(name, 0) for name in names), default=0)
    if option and fewest and 0 < most < int(fewest[0]):
        where = asked_partition.value if asked_partition else "the largest partition"
        yield error(
            option.line,
            f"{fewest[0]} nodes are asked for, and {where} has {most}",
            f"ask for at most {most}, or raise instance_count in the cluster file",
        )


def gpus(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """GPUs can be asked for only where Slurm counts them."""
    for option in [] if cluster.counts_gpus else _all_options(script):
        if option.name in GPU_OPTIONS or (option.name == "gres" and option.value.startswith("gpu")):
            yield error(
                option.line,
                f"--{option.name} asks for GPUs, which Slurm does not count on this cluster, so the job is refused",
                "use --exclusive: the job has all GPUs of its nodes; or have gres.conf set up",
            )


def mpi(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """Slurm here may be built without PMIx."""
    for step in script.steps:
        for option in step:
            if option.name == "mpi" and option.value not in {*cluster.mpi_types, "list", "none"}:
                known = ", ".join(sorted(cluster.mpi_types)) or "none"
                yield error(
                    option.line,
                    f"srun --mpi={option.value} is not built in here; there is: {known}",
                    "use one of these, or start the processes with torchrun, which needs none",
                )


def containers(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """Container options come from pyxis."""
    for option in _all_options(script):
        # Slurm has a few of its own that begin so, --container-id for one.
        if option.name.startswith("container-") and not cluster.knows(option.name):
            yield error(
                option.line,
                f"--{option.name} is pyxis's, which is not installed",
                "`hyperpod-precheck` on a worker says what is missing; or run without a container",
            )


def _all_options(script: SbatchScript) -> list[Option]:
    return [*script.options, *(option for step in script.steps for option in step)]


RULES = (partition, nodes, gpus, mpi, containers)
