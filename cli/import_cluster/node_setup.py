"""What sets up the nodes: HyperPod with a SlurmConfig in each group (`slurm.setup: api`), or scripts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.deployed_values import LIFE_CYCLE, NEW_FILE_SYSTEM
from cli.import_cluster.instance_storage import LUSTRE, STORAGE, Mounts, common_mounts, ordered
from cli.import_cluster.original import GROUPS, Original, eks_arn_of, without
from cli.import_cluster.roles import Roles
from cluster_request.request import CONTINUOUS, LUSTRE_PATH, Request
from config.errors import ConfigError, Problem, dotted
from config.lifecycle import ON_CREATE

SLURM = "SlurmConfig"
MOVED = "New: HyperPod sets up Slurm (`slurm.setup: api`, which AWS recommends), instead of provisioning_parameters.json."
NOT_MOVED = (
    "Scripts set up Slurm, because `slurm.setup: api` does not fit: {}: {}. With scripts there is no continuous provisioning, "
    "Spot or min_instance_count, and a running cluster cannot change its set-up in a deployment."
)
API_FIX = "keep the original's with --keep everything, or use our on_create.sh"
FIX = "pass the folder of the original's scripts with --scripts, or use our on_create.sh"


def uses_api(original: Original, choices: Choices) -> bool:
    """Return whether the file can say `slurm.setup: api`; passed scripts require `scripts`."""
    return (
        (original.parameters is None or original.has_moved)
        and choices.scripts is None
        and all("NodeType" in (group.get(SLURM) or {}) for group in original.groups)
    )


def moved(original: Original, choices: Choices, roles: Roles) -> Original | None:
    """Return an original with parameters as AWS migrates it to SlurmConfig, or None if a choice or the request excludes it."""
    has_both = any(SLURM in group for group in original.groups)
    if original.parameters is None or has_both or choices.keep is not Keep.NOTHING or choices.scripts is not None:
        return None
    dns_name, mount_name = (original.parameters.get(name) for name in ("fsx_dns_name", "fsx_mountname"))
    mount = {"DnsName": dns_name, "MountName": mount_name or NEW_FILE_SYSTEM[1], "MountPath": LUSTRE_PATH}
    mounts = [{LUSTRE: mount}] if dns_name else []
    groups = []
    for group in original.groups:
        role, partition = roles.found[group["InstanceGroupName"]]
        slurm = {"NodeType": str(role).title(), **({"PartitionNames": [partition]} if partition else {})}
        storage = [*group.get(STORAGE, ()), *mounts]
        groups.append({**group, SLURM: slurm, **({STORAGE: storage} if storage else {})})
    # as cluster_request makes it
    continuous = original.request.get("NodeProvisioningMode") == CONTINUOUS
    orchestrator = {} if continuous else {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}}
    return replace(
        original, request={**original.request, GROUPS: groups, **orchestrator}, has_moved=True, notes=(*original.notes, MOVED)
    )


def not_moved(original: Original, problem: Problem) -> Original:
    """Return the original with the reason why scripts set up Slurm."""
    return replace(original, notes=(*original.notes, NOT_MOVED.format(dotted(problem.path), problem.message)))


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
        made[LIFE_CYCLE] = {**without(scripts, "OnCreate"), "OnInitComplete": ON_CREATE}
    if has_mounts and STORAGE in made:
        made[STORAGE] = ordered(made[STORAGE])
    return made


def lifecycle_part(original: Original, choices: Choices) -> Part:
    """Return our scripts, those in ``choices.scripts``, or the original's, which `overrides` keep."""
    if choices.keep is Keep.EVERYTHING:
        return Part({})
    if choices.scripts is not None:
        names = [group.get(LIFE_CYCLE, {}).get("OnCreate") for group in original.groups]
        started = next((name for name in names if name), None)
        section = {"source": choices.scripts, **({"on_create": started} if started else {})}
        return Part({"lifecycle": section}, ("The original's scripts.",))
    if problems := list(_not_ours(original, is_api=uses_api(original, choices))):
        raise ConfigError({original.request_file: problems})
    return Part({})


def _not_ours(original: Original, *, is_api: bool) -> Iterator[Problem]:
    """Yield entry scripts that are not among ours, and that nodes could not start."""
    for index, group in enumerate(original.groups):
        scripts = group.get(LIFE_CYCLE, {})
        for member in ("OnCreate", "OnInitComplete"):
            name = scripts.get(member)
            if name is not None and (name != ON_CREATE or (member != "OnCreate" and not is_api)):
                fix = API_FIX if is_api else FIX
                yield Problem((GROUPS, index, LIFE_CYCLE, member), name, "is not one of our scripts", fix)


def on_create_of(sections: Mapping[str, object]) -> str:
    """Return the script that HyperPod starts."""
    section = sections.get("lifecycle")
    return str(section.get("on_create", ON_CREATE)) if isinstance(section, dict) else ON_CREATE
