"""The resources of this Slurm cluster, for the check of an sbatch script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.shell import Run


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
