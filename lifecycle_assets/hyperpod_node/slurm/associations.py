"""The cluster and its users in the accounting database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hyperpod_node.system import System

ACCOUNT = "default"


def register(cluster: str, users: Iterable[str], system: System) -> None:
    """Add what is missing: the cluster, one account, and the users in it. What administrators made is left as it is."""
    if cluster.lower() not in _ask(system, "cluster", "cluster"):
        system.slurm("sacctmgr", "--immediate", "add", "cluster", cluster)
    there = {tuple(line.split("|")) for line in _ask(system, "associations", "account,user", f"cluster={cluster}")}
    if (ACCOUNT, "") not in there:
        system.slurm(
            "sacctmgr", "--immediate", "add", "account", ACCOUNT, f"cluster={cluster}", "description=users of the cluster file"
        )
    known = {user for _, user in there}
    missing = sorted(set(users) - known)
    if missing:
        system.slurm("sacctmgr", "--immediate", "add", "user", ",".join(missing), f"account={ACCOUNT}", f"cluster={cluster}")


def _ask(system: System, what: str, columns: str, *where: str) -> list[str]:
    said = system.slurm("sacctmgr", "--noheader", "--parsable2", "show", what, *where, f"format={columns}")
    return said.splitlines()
