"""The resources of this Slurm cluster, and rules that compare them with what an sbatch script requests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_node.precheck.sbatch_script import error, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.sbatch_script import Option, Problem, SbatchScript
    from hyperpod_node.shell import Run

GPU_OPTIONS = ("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")
AUTO_RESUME = "auto-resume"


@dataclass(frozen=True)
class SlurmCluster:
    """Partitions with their node counts, whether Slurm counts GPUs, MPI types, and srun's options."""

    partitions: dict[str, int]
    counts_gpus: bool
    mpi_types: frozenset[str]
    srun_help: str

    @classmethod
    def ask(cls, run: Run) -> SlurmCluster:
        """Return the cluster that Slurm's commands describe."""
        mpi = run("srun", "--mpi=list", with_errors=True)  # some releases print the list to stderr
        return cls(
            partitions_of(run("sinfo", "--noheader", "--format=%R %D")),
            "gpu" in run("sinfo", "--noheader", "--format=%G"),
            frozenset(mpi_types_of(mpi)),
            run("srun", "--help"),
        )

    def knows(self, option: str) -> bool:
        """Return whether srun has this option, its own or a plugin's."""
        return f"--{option}" in self.srun_help


def partitions_of(listed: str) -> dict[str, int]:
    """Return the node count of each partition from sinfo, which prints a line per partition and state."""
    partitions: dict[str, int] = {}
    for line in listed.splitlines():
        name, count = line.split()
        partitions[name] = partitions.get(name, 0) + int(count)
    return partitions


def mpi_types_of(listed: str) -> list[str]:
    """Return the types that `srun --mpi=list` prints: one per line, and a last line with the versions of pmix."""
    types = []
    for line in listed.splitlines():
        name, colon, versions = line.strip().partition(":")
        types += versions.replace(",", " ").split() if colon else [name] if name.isidentifier() else []
    return types


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
    for option in [] if cluster.counts_gpus else [*script.options, *script.step_options]:
        if option.name in GPU_OPTIONS or (option.name == "gres" and option.value.startswith("gpu")):
            yield error(
                option.line,
                f"--{option.name} requests GPUs, but Slurm does not count GPUs on this cluster: it rejects the job",
                "use --exclusive to get all GPUs of the nodes, or ask an administrator to configure gres.conf",
            )


def mpi(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Require that srun supports the MPI type; Slurm may be built without PMIx."""
    for option in script.step_options:
        if option.name == "mpi" and option.value not in {*cluster.mpi_types, "list", "none"}:
            known = ", ".join(sorted(cluster.mpi_types)) or "none"
            yield error(
                option.line,
                f"srun does not support --mpi={option.value} on this cluster; available: {known}",
                "use an available type, or start the processes with torchrun, which needs no MPI",
            )


def containers(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Reject container options if pyxis is not installed."""
    for option in [*script.options, *script.step_options]:
        # Slurm has some options with this prefix itself, for example --container-id.
        if option.name.startswith("container-") and not cluster.knows(option.name):
            yield error(
                option.line,
                f"--{option.name} requires pyxis, which is not installed",
                "see what is missing: run hyperpod-precheck on a worker; or run without a container",
            )


def auto_resume_without_plugin(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Reject --auto-resume if HyperPod's plugin is not loaded."""
    for option in auto_resumes(script):
        if not cluster.knows(AUTO_RESUME):
            yield error(
                option.line,
                "srun does not support --auto-resume on this cluster: HyperPod's plugin is not loaded",
                "add it only if `srun --help` lists it, as examples/jobs/environment.sh does",
            )


def auto_resume_with_gpus(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Report that auto-resume requeues the whole job if Slurm counts its GPUs: the step cannot get another node."""
    asks = any(option.name in (*GPU_OPTIONS, "gres") for option in script.options)
    forbidden = script.option("no-requeue")
    for option in auto_resumes(script) if asks or cluster.counts_gpus else ():
        if forbidden:
            yield error(
                forbidden.line,
                "--no-requeue disables auto-resume: if Slurm counts GPUs, auto-resume requeues the whole job",
                "remove --no-requeue",
            )
        else:
            yield warning(
                option.line,
                "Slurm counts GPUs: auto-resume requeues the whole job instead of replacing a node of the step",
                "make sure that the script can run again from its first line and continues from a checkpoint",
            )
        return


def auto_resumes(script: SbatchScript) -> Iterator[Option]:
    """Return the options of srun that make HyperPod resume its step."""
    return (option for option in script.step_options if option.name == AUTO_RESUME)


RULES = (partition, nodes, gpus, mpi, containers, auto_resume_without_plugin, auto_resume_with_gpus)
