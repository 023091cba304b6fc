"""Register the cluster and its users in the accounting database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hyperpod_node.system import System

ACCOUNT = "default"


def register(cluster: str, users: Iterable[str], qos: Iterable[str], system: System) -> None:
    """Add the cluster, an account, its users and ``qos`` if they are missing; change nothing else."""
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
    _add_qos(sorted({name.lower() for name in qos}), system)


def _add_qos(names: list[str], system: System) -> None:
    """Add each QOS that is missing: slurmctld may not start if a partition names an unknown QOS."""
    missing = sorted(set(names) - set(_query(system, "qos", "name"))) if names else []
    if missing:
        system.slurm("sacctmgr", "--immediate", "add", "qos", ",".join(missing))


def _query(system: System, what: str, columns: str, *where: str) -> list[str]:
    output = system.slurm("sacctmgr", "--noheader", "--parsable2", "show", what, *where, f"format={columns}")
    return output.splitlines()
