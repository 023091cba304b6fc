"""Check the `slurm` section."""

import re
from collections.abc import Iterator

from config.errors import ABSENT, Level, Path, Problem
from config.instance_group import Role
from config.model import ClusterConfig
from config.slurm import Database
from validation.rules.registry import rule

ACCOUNTING: Path = ("slurm", "accounting")
NEEDED = {"host": "name of the database's host", "secret_arn": "ARN of the secret with its username and password"}
EXTERNAL_ONLY = ("host", "port", "secret_arn", "secret_key_arn")

# Slurm's syntax (src/common/parse_config.c of https://github.com/SchedMD/slurm): a backslash at the end continues a line, and an
# equals sign may have spaces around it.
CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\[ \t]*\r?\n")
TOPOLOGY_LINE = re.compile(r"\s*(SwitchName|BlockName|BlockSizes)\s*=\s*\S", re.IGNORECASE)
NODES = re.compile(r"\sNodes\s*=\s*\S", re.IGNORECASE)


@rule("external-accounting", "slurm.accounting")
def external_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """An external accounting database requires `host` and `secret_arn`.

    Without them slurmdbd cannot connect, and the controller's setup fails.
    """
    accounting = config.slurm.accounting
    if accounting.database is Database.EXTERNAL:
        for name, what in NEEDED.items():
            if getattr(accounting, name) is None:
                yield Problem((*ACCOUNTING, name), ABSENT, f"required by `database: external`; add the {what}")


@rule("unused-accounting-fields", "slurm.accounting")
def unused_accounting_fields(config: ClusterConfig) -> Iterator[Problem]:
    """`host`, `port`, `secret_arn` and `secret_key_arn` require `database: external`.

    Otherwise they have no effect, and jobs are recorded elsewhere.
    """
    accounting = config.slurm.accounting
    if accounting.database is not Database.EXTERNAL:
        for name in EXTERNAL_ONLY:
            if name in accounting.model_fields_set and getattr(accounting, name) is not None:
                message = f"has no effect with `database: {accounting.database}`; remove it, or set `database: external`"
                yield Problem((*ACCOUNTING, name), getattr(accounting, name), message)


@rule("controller-state-folder", "slurm.state_folder", "instance_groups", "lifecycle.source")
def controller_state_folder(config: ClusterConfig) -> Iterator[Problem]:
    """A controller group with more than one node requires `slurm.state_folder`.

    A second controller can take over only if it can read the first one's state.
    """
    counts = [group.instance_count for group in config.instance_groups if group.role is Role.CONTROLLER]
    # Another rule reports several controller groups; custom scripts may do without.
    is_own = config.lifecycle.source is not None
    if not is_own and len(counts) == 1 and counts[0] > 1 and config.slurm.state_folder is None:
        message = f"required for {counts[0]} controllers, so that one can take over; add e.g. `state_folder: /fsx/slurm`"
        yield Problem(("slurm", "state_folder"), ABSENT, message)


@rule(
    "state-on-shared-storage",
    *("slurm.state_folder", "storage.lustre", "storage.existing", "storage.openzfs"),
    level=Level.WARNING,
)
def state_on_shared_storage(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.state_folder` must be on a shared file system: in /fsx with `lustre` or `existing`, in /home with `openzfs`.

    Otherwise a replaced controller starts with an empty queue, unless scripts of `lifecycle.extra` mount a file system there.
    """
    folder, storage = config.slurm.state_folder, config.storage
    mounted = {"/fsx": storage.lustre or storage.existing, "/home": storage.openzfs}
    shared = [mount for mount, what in mounted.items() if what]
    if folder is not None and not any(folder.startswith(f"{mount}/") for mount in shared):
        fix = f"use e.g. {shared[0]}/slurm" if shared else "add one (`storage.lustre`), or remove this line"
        yield Problem(("slurm", "state_folder"), folder, f"not on a shared file system; {fix}")


@rule("state-with-local-accounting", "slurm.state_folder", "slurm.accounting.database")
def state_with_local_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.state_folder` requires the accounting database `external` or `none`.

    A local database is lost with its controller. slurmctld then refuses to start, because the cluster id in its state differs
    from the new database's.
    """
    # UpdateClusterSoftware replaces the controller's root volume, and slurmctld then fails with "CLUSTER ID MISMATCH".
    slurm = config.slurm
    if slurm.state_folder is not None and slurm.accounting.database is Database.LOCAL:
        message = (
            "does not survive a patch or replacement of the controller, and then contradicts `state_folder`; set `database: "
            "external`, or `none`"
        )
        yield Problem((*ACCOUNTING, "database"), slurm.accounting.database.value, message)


@rule("topology-syntax", "slurm.topology")
def topology_syntax(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.topology` must describe either switches or blocks, with their nodes.

    slurmctld does not start with an invalid topology.conf.
    """
    if config.slurm.topology is None:
        return
    path, kinds, names_nodes = ("slurm", "topology"), set(), False
    for line in CONTINUED.sub(r"\1", config.slurm.topology).splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        found = TOPOLOGY_LINE.match(text)
        if not found:
            yield Problem(path, line, "invalid line in topology.conf; start it with SwitchName=, BlockName=, BlockSizes= or #")
            return
        kinds.add(found[1].lower()[:5])
        names_nodes |= NODES.search(text) is not None
    if len(kinds) > 1:
        yield Problem(path, config.slurm.topology, "has both switches and blocks; remove one kind")
    elif not names_nodes:
        yield Problem(path, config.slurm.topology, "contains no nodes; add e.g. `BlockName=b1 Nodes=ip-10-1-0-[4-7]`")
