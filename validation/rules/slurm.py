"""Rules about Slurm's set-up."""

import re
from collections.abc import Iterator

from config.errors import ABSENT, Level, Path, Problem
from config.instance_group import Role
from config.model import ClusterConfig
from config.slurm import Database
from validation.rules.registry import rule

ACCOUNTING: Path = ("slurm", "accounting")
NEEDED = {"host": "name of the database's host", "secret_arn": "ARN of the secret with its username and password"}
EXTERNAL_ALONE = ("host", "port", "secret_arn", "secret_key_arn")

# As Slurm reads its files (src/common/parse_config.c of https://github.com/SchedMD/slurm): a line that ends in a backslash goes
# on in the next one, and there may be blanks around an equals sign.
CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\[ \t]*\r?\n")
TOPOLOGY_LINE = re.compile(r"\s*(SwitchName|BlockName|BlockSizes)\s*=\s*\S", re.IGNORECASE)
NODES = re.compile(r"\sNodes\s*=\s*\S", re.IGNORECASE)


@rule("external-accounting", "slurm.accounting")
def external_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """An external accounting database has a `host` and a `secret_arn`.

    slurmdbd would have no database to start with, and the controller's set-up would fail.
    """
    accounting = config.slurm.accounting
    if accounting.database is Database.EXTERNAL:
        for name, what in NEEDED.items():
            if getattr(accounting, name) is None:
                yield Problem((*ACCOUNTING, name), ABSENT, f"`database: external` needs it; add the {what}")


@rule("accounting-without-a-host", "slurm.accounting")
def accounting_without_a_host(config: ClusterConfig) -> Iterator[Problem]:
    """Without an external accounting database, there is no `host`, `port`, `secret_arn` or `secret_key_arn`.

    It would be written in the file and do nothing: jobs would be recorded somewhere else than it says.
    """
    accounting = config.slurm.accounting
    if accounting.database is not Database.EXTERNAL:
        for name in EXTERNAL_ALONE:
            if name in accounting.model_fields_set and getattr(accounting, name) is not None:
                message = f"`database: {accounting.database}` has none; remove it, or set `database: external`"
                yield Problem((*ACCOUNTING, name), getattr(accounting, name), message)


@rule("several-controllers", "slurm.state_folder", "instance_groups", "lifecycle.source")
def several_controllers(config: ClusterConfig) -> Iterator[Problem]:
    """Several controllers (a controller group of more than one node) share a `slurm.state_folder`.

    A second controller can go on only with the state that the first one wrote, which it must be able to read.
    """
    counts = [group.instance_count for group in config.instance_groups if group.role is Role.CONTROLLER]
    # Of several controller groups, another rule tells; what scripts of the user's own do, nobody knows.
    is_own = config.lifecycle.source is not None
    if not is_own and len(counts) == 1 and counts[0] > 1 and config.slurm.state_folder is None:
        message = (
            f"{counts[0]} controllers need one, so that another goes on where one stopped; add e.g. `state_folder: /fsx/slurm`"
        )
        yield Problem(("slurm", "state_folder"), ABSENT, message)


@rule(
    "state-on-shared-storage",
    *("slurm.state_folder", "storage.lustre", "storage.existing", "storage.openzfs"),
    level=Level.WARNING,
)
def state_on_shared_storage(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.state_folder` lies below a file system of the file: /fsx with `lustre` or `existing`, /home with `openzfs`.

    slurmctld would begin without its queue after a replacement, as if no job had been there: unless scripts of `lifecycle.extra`
    mount something there.
    """
    folder, storage = config.slurm.state_folder, config.storage
    mounted = {"/fsx": storage.lustre or storage.existing, "/home": storage.openzfs}
    shared = [mount for mount, what in mounted.items() if what]
    if folder is not None and not any(folder.startswith(f"{mount}/") for mount in shared):
        remedy = f"use e.g. {shared[0]}/slurm" if shared else "add one (`storage.lustre`), or remove this line"
        yield Problem(("slurm", "state_folder"), folder, f"is on no file system that nodes share; {remedy}")


@rule("state-outlives-accounting", "slurm.state_folder", "slurm.accounting.database")
def state_outlives_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """With a `slurm.state_folder`, the accounting database is `external` or `none`: a local one is lost with its controller.

    slurmctld refuses to start when its state knows the cluster by another number than the database does.
    """
    # UpdateClusterSoftware replaces the controller's root volume. slurmctld's state would then know the cluster by the number
    # that the lost database gave it, and slurmctld refuses to start: "CLUSTER ID MISMATCH".
    slurm = config.slurm
    if slurm.state_folder is not None and slurm.accounting.database is Database.LOCAL:
        message = (
            "`local` records are lost when the controller is patched or replaced, and the state in `state_folder` would no "
            "longer fit; set `database: external`, or `none`"
        )
        yield Problem((*ACCOUNTING, "database"), slurm.accounting.database.value, message)


@rule("topology-text", "slurm.topology")
def topology_text(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.topology` describes switches or blocks, not both, and says which nodes are in them.

    slurmctld does not start with a topology.conf that it cannot read.
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
            yield Problem(path, line, "is no line of topology.conf; begin it with SwitchName=, BlockName=, BlockSizes= or #")
            return
        kinds.add(found[1].lower()[:5])
        names_nodes |= NODES.search(text) is not None
    if len(kinds) > 1:
        yield Problem(path, config.slurm.topology, "has both switches and blocks; Slurm takes one kind, remove the other")
    elif not names_nodes:
        yield Problem(path, config.slurm.topology, "names no nodes; write e.g. `BlockName=b1 Nodes=ip-10-1-0-[4-7]`")
