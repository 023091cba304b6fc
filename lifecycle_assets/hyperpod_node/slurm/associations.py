"""Register the cluster and its users in the accounting database."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

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


def add_user(user: str, system: System, timeout_s: float) -> None:
    """Add ``user`` to the account of this cluster's users, if it has none; works on any node with Slurm's commands."""
    found = re.search(r"(?m)^ClusterName\s*=\s*(\S+)", system.slurm("scontrol", "show", "config", timeout_s=timeout_s))
    if found is None:
        raise NodeError("`scontrol show config` prints no ClusterName")
    cluster = f"cluster={found[1]}"
    show = ("sacctmgr", "--noheader", "--parsable2", "show", "associations", cluster, f"user={user}", "format=user")
    if not system.slurm(*show, timeout_s=timeout_s).split():
        system.slurm("sacctmgr", "--immediate", "add", "user", user, f"account={ACCOUNT}", cluster, timeout_s=timeout_s)


def _add_qos(names: list[str], system: System) -> None:
    """Add each QOS that is missing: slurmctld may not start if a partition names an unknown QOS."""
    missing = sorted(set(names) - set(_query(system, "qos", "name"))) if names else []
    if missing:
        system.slurm("sacctmgr", "--immediate", "add", "qos", ",".join(missing))


def _query(system: System, what: str, columns: str, *where: str) -> list[str]:
    output = system.slurm("sacctmgr", "--noheader", "--parsable2", "show", what, *where, f"format={columns}")
    return output.splitlines()
