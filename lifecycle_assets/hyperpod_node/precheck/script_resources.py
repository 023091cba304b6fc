"""Rules that compare the resources that a script requests with those of this cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.precheck.problem import error
from hyperpod_node.precheck.sbatch_script import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.problem import Problem
    from hyperpod_node.precheck.sbatch_script import SbatchScript
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")


def partition(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Require that the requested partitions exist."""
    option = script.option("partition")
    for name in option.value.split(",") if option else ():
        if option and name not in cluster.partitions:
            known = ", ".join(sorted(cluster.partitions))
            yield error(option.line, f"unknown partition {name!r}", f"use one of {known}, or remove the option for the default")


def nodes(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Require that a partition has enough nodes; otherwise the job waits forever."""
    option, requested = script.option("nodes"), script.option("partition")
    fewest = re.match(r"\d+", option.value) if option else None
    names = requested.value.split(",") if requested else list(cluster.partitions)
    most = max((cluster.partitions.get(name, 0) for name in names), default=0)
    if option and fewest and 0 < most < int(fewest[0]):
        where = requested.value if requested else "the largest partition"
        yield error(
            option.line,
            f"{fewest[0]} nodes requested, but {where} has {most}",
            f"request at most {most}, or increase instance_count in the cluster file",
        )


def gpus(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Reject GPU options if Slurm does not count GPUs."""
    for option in [] if cluster.counts_gpus else _all_options(script):
        if option.name in GPU_OPTIONS or (option.name == "gres" and option.value.startswith("gpu")):
            yield error(
                option.line,
                f"--{option.name} requests GPUs, but Slurm does not count GPUs on this cluster: it rejects the job",
                "use --exclusive to get all GPUs of the nodes, or ask an administrator to configure gres.conf",
            )


def mpi(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Require that srun supports the MPI type; Slurm may be built without PMIx."""
    for step in script.steps:
        for option in step:
            if option.name == "mpi" and option.value not in {*cluster.mpi_types, "list", "none"}:
                known = ", ".join(sorted(cluster.mpi_types)) or "none"
                yield error(
                    option.line,
                    f"srun does not support --mpi={option.value} on this cluster; available: {known}",
                    "use an available type, or start the processes with torchrun, which needs no MPI",
                )


def containers(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Reject container options if pyxis is not installed."""
    for option in _all_options(script):
        # Slurm has some options with this prefix itself, for example --container-id.
        if option.name.startswith("container-") and not cluster.knows(option.name):
            yield error(
                option.line,
                f"--{option.name} requires pyxis, which is not installed",
                "see what is missing: run hyperpod-precheck on a worker; or run without a container",
            )


def _all_options(script: SbatchScript) -> list[Option]:
    return [*script.options, *(option for step in script.steps for option in step)]


RULES = (partition, nodes, gpus, mpi, containers)
