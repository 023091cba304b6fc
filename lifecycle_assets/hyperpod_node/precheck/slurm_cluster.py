"""What this Slurm cluster offers, for the check of a user's script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.shell import Run


@dataclass(frozen=True)
class SlurmCluster:
    """Partitions with their number of nodes, GPUs as Slurm counts them, MPI types, and srun's options."""

    partitions: dict[str, int]
    counts_gpus: bool
    mpi_types: frozenset[str]
    srun_help: str

    @classmethod
    def ask(cls, run: Run) -> SlurmCluster:
        """Ask Slurm."""
        mpi = run("srun", "--mpi=list", with_errors=True)  # some releases print the list to the error output
        return cls(
            partitions_of(run("sinfo", "--noheader", "--format=%R %D")),
            "gpu" in run("sinfo", "--noheader", "--format=%G"),
            frozenset(mpi_types_of(mpi)),
            run("srun", "--help"),
        )

    def knows(self, option: str) -> bool:
        """Tell whether srun has this option, itself or from a plugin."""
        return f"--{option}" in self.srun_help


def partitions_of(listed: str) -> dict[str, int]:
    """Partitions and their nodes, from sinfo's lines: one per partition and state."""
    partitions: dict[str, int] = {}
    for line in listed.splitlines():
        name, count = line.split()
        partitions[name] = partitions.get(name, 0) + int(count)
    return partitions


def mpi_types_of(listed: str) -> list[str]:
    """The types of `srun --mpi=list`: one per line, and a last line with the versions of pmix that can be asked for."""
    types = []
    for line in listed.splitlines():
        name, colon, versions = line.strip().partition(":")
        types += versions.replace(",", " ").split() if colon else [name] if name.isidentifier() else []
    return types
