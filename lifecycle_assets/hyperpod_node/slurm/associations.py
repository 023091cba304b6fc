"""Register the cluster and its users in the accounting database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hyperpod_node.system import System

ACCOUNT = "default"


def register(cluster: str, users: Iterable[str], system: System) -> None:
    """Add the cluster, an account and its users if they are missing; change nothing else."""
    if cluster.lower() not in _query(system, "cluster", "cluster"):
        system.slurm("sacctmgr", "--immediate", "add", "cluster", cluster)
    associations = {tuple(line.split("|")) for line in _query(system, "associations", "account,user", f"cluster={cluster}")}
    if (ACCOUNT, "") not in associations:
        system.slurm(
            "sacctmgr", "--immediate", "add", "account", ACCOUNT, f"cluster={cluster}", "description=users of the cluster file"
        )
    known = {user for _, user in associations}
    missing = sorted(set(users) - known)
    if missing:
        system.slurm("sacctmgr", "--immediate", "add", "user", ",".join(missing), f"account={ACCOUNT}", f"cluster={cluster}")


def _query(system: System, what: str, columns: str, *where: str) -> list[str]:
    output = system.slurm("sacctmgr", "--noheader", "--parsable2", "show", what, *where, f"format={columns}")
    return output.splitlines()
