"""Check state and topology of the `slurm` section."""

import re
from collections.abc import Iterator

from config.errors import ABSENT, Level, Problem
from config.instance_group import Role
from config.model import ClusterConfig, slurm_of
from config.slurm import SCRIPTS_LINE, Setup
from validation.rules.registry import FILE_SYSTEMS, slurm_rule

# Slurm's syntax (src/common/parse_config.c of https://github.com/SchedMD/slurm): a backslash at the end continues a line, and an
# equals sign may have spaces around it.
CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\[ \t]*\r?\n")
TOPOLOGY_LINE = re.compile(r"\s*(SwitchName|BlockName|BlockSizes)\s*=\s*\S", re.IGNORECASE)
NODES = re.compile(r"\sNodes\s*=\s*\S", re.IGNORECASE)


@slurm_rule("controller-state-folder", "slurm.state_folder", "instance_groups", "lifecycle.source")
def controller_state_folder(config: ClusterConfig) -> Iterator[Problem]:
    """A controller group with more than one node requires `slurm.state_folder`.

    A second controller can take over only if it can read the first one's state.
    """
    counts = [group.instance_count for group in config.of_role(Role.CONTROLLER)]
    # Another rule reports several controller groups; custom scripts may do without.
    is_own = config.lifecycle.source is not None
    if not is_own and len(counts) == 1 and counts[0] > 1 and slurm_of(config).state_folder is None:
        message = f"required for {counts[0]} controllers, so that one can take over"
        yield Problem(("slurm", "state_folder"), ABSENT, message, "add e.g. `state_folder: /fsx/slurm`")


@slurm_rule("api-setup-limits", "slurm.setup", "instance_groups", "lifecycle.source", "storage.existing")
def api_setup_limits(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.setup: api`, the default, supports one controller, no `lifecycle.source` and no Lustre over EFA.

    HyperPod configures several controllers only from provisioning_parameters.json, scripts of other projects read that file, and
    HyperPod mounts file systems over TCP.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-multihead-slurm.html
    if slurm_of(config).setup is not Setup.API:
        return
    controllers = sum(group.instance_count for group in config.of_role(Role.CONTROLLER))
    existing = config.storage.existing
    if controllers > 1:
        yield _needs_scripts(config, f"several controllers (got {controllers})", "reduce instance_count")
    if config.lifecycle.source is not None:
        yield _needs_scripts(config, "`lifecycle.source`", "use `lifecycle.extra`")
    if existing is not None and existing.efa:
        yield _needs_scripts(config, "`storage.existing.efa`", "remove `efa`")


def _needs_scripts(config: ClusterConfig, what: str, otherwise: str) -> Problem:
    """Return the problem of something that only scripts configure, with the line to add if the file has none."""
    is_written = "setup" in slurm_of(config).model_fields_set
    fix = "set `scripts`" if is_written else f"add `{SCRIPTS_LINE}`"
    value = slurm_of(config).setup.value if is_written else ABSENT
    return Problem(("slurm", "setup"), value, f"`api`, the default, does not support {what}", f"{fix}, or {otherwise}")


@slurm_rule(
    "state-on-shared-storage",
    "slurm.state_folder",
    *FILE_SYSTEMS,
    level=Level.WARNING,
)
def state_on_shared_storage(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.state_folder` must be on a shared file system: in /fsx with `lustre` or `existing`, in /home with `openzfs`.

    Otherwise a replaced controller starts with an empty queue, unless scripts of `lifecycle.extra` mount a file system there.
    """
    folder, storage = slurm_of(config).state_folder, config.storage
    shared = [each.mount_path for each in storage.file_systems]
    if folder is not None and not any(folder.startswith(f"{mount}/") for mount in shared):
        fix = f"use e.g. {shared[0]}/slurm" if shared else "add one (`storage.lustre`), or remove this line"
        yield Problem(("slurm", "state_folder"), folder, "not on a shared file system", fix)


@slurm_rule("topology-syntax", "slurm.topology")
def topology_syntax(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.topology` must describe either switches or blocks, with their nodes.

    slurmctld does not start with an invalid topology.conf.
    """
    topology = slurm_of(config).topology
    if topology is None:
        return
    path, kinds, names_nodes = ("slurm", "topology"), set(), False
    number = 0
    for line in CONTINUED.sub("\\1\0", topology).splitlines():
        number += 1
        text = line.replace("\0", "").partition("#")[0].strip()
        if not text:
            continue
        found = TOPOLOGY_LINE.match(text)
        if not found:
            yield Problem(
                path, text, f"invalid line {number} of topology.conf", "start it with SwitchName=, BlockName=, BlockSizes= or #"
            )
            return
        number += line.count("\0")
        kinds.add(found[1].lower()[:5])
        names_nodes |= NODES.search(text) is not None
    if len(kinds) > 1:
        yield Problem(path, topology, "has both switches and blocks", "remove one kind")
    elif not names_nodes:
        yield Problem(path, topology, "contains no nodes", "add e.g. `BlockName=b1 Nodes=ip-10-1-0-[4-7]`")
