"""Requests that let HyperPod configure Slurm, with a SlurmConfig in each group: `slurm.setup: api`."""

from dataclasses import replace
from typing import Any

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.deployed_values import LIFE_CYCLE
from cli.import_cluster.instance_storage import STORAGE, Mounts, common_mounts, ordered
from cli.import_cluster.kubernetes import eks_arn_of
from cli.import_cluster.original import GROUPS, Original
from cluster_request.request import CONTINUOUS, Request
from config.lifecycle import ON_CREATE

SLURM = "SlurmConfig"


def uses_api(original: Original, choices: Choices) -> bool:
    """Return whether the file can say `slurm.setup: api`; passed scripts require `scripts`."""
    return (
        original.parameters is None
        and choices.scripts is None
        and all("NodeType" in (group.get(SLURM) or {}) for group in original.groups)
    )


def is_continuous(original: Original, choices: Choices) -> bool:
    """Return whether the file can say `provisioning: continuous`."""
    is_allowed = uses_api(original, choices) or eks_arn_of(original.request) is not None
    return is_allowed and original.request.get("NodeProvisioningMode") == CONTINUOUS


def mounts_of(original: Original, choices: Choices) -> Mounts | None:
    """Return the file systems for the `storage` section; None for those that stay in `overrides`.

    A new network does not reach an OpenZFS file system, which the deployment cannot create.
    """
    mounts = common_mounts(original.groups) if uses_api(original, choices) else None
    is_lost = mounts is not None and mounts.openzfs is not None and choices.keep is Keep.NOTHING
    return None if is_lost else mounts


def in_api_form(original: Original, choices: Choices) -> Original:
    """Return the original with this project's script after HyperPod's set-up, and with storage in this project's order."""
    if not uses_api(original, choices):
        return original
    groups = [_group(group, choices, has_mounts=mounts_of(original, choices) is not None) for group in original.groups]
    return replace(original, request={**original.request, GROUPS: groups})


def _group(group: Request, choices: Choices, *, has_mounts: bool) -> Request:
    made: dict[str, Any] = dict(group)
    scripts = made.get(LIFE_CYCLE, {})
    if choices.keep is not Keep.EVERYTHING and scripts.get("OnCreate") == ON_CREATE:
        made[LIFE_CYCLE] = {**{name: value for name, value in scripts.items() if name != "OnCreate"}, "OnInitComplete": ON_CREATE}
    if has_mounts and STORAGE in made:
        made[STORAGE] = ordered(made[STORAGE])
    return made
