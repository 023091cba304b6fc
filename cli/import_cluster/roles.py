"""Slurm roles of the instance groups, from the provisioning parameters or SlurmConfig."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.import_cluster.original import GROUPS, Original, eks_arn_of
from config.errors import ABSENT, Path, Problem
from config.instance_group import InstanceGroup, Role
from config.suggestions import nearest
from validation.patterns import in_words

# HyperPod's partition for a compute group whose SlurmConfig has none.
UNNAMED = "dev"


@dataclass
class Roles:
    """Role and partition of each group, dropped groups, and problems by file."""

    found: dict[str, tuple[Role | None, str | None]] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    also_workers: list[str] = field(default_factory=list)
    """Login groups that the parameters list among the workers, too."""
    problems: dict[str, list[Problem]] = field(default_factory=dict)

    def wrong(self, file: str, problem: Problem) -> None:
        """Add a problem."""
        self.problems.setdefault(file, []).append(problem)


def roles_of(original: Original, *, drop_unknown_groups: bool) -> Roles:
    """Return the role of every group in the request."""
    names = [group["InstanceGroupName"] for group in original.groups]
    roles = Roles()
    if eks_arn_of(original.request):
        return Roles(dict.fromkeys(names, (None, None)))
    sources = list(_sources(original))
    free = [name for name in names if name not in {each[1] for each in sources}]
    for path, name, role, partition in sources:
        if role is Role.COMPUTE and roles.found.get(name, (role,))[0] is Role.LOGIN:
            roles.also_workers.append(name)
        elif name in names:
            _assign(roles, original, (path, name, role, partition))
        elif drop_unknown_groups and role is not Role.CONTROLLER:
            roles.dropped.append(name)
        else:
            roles.wrong(original.parameters_file, _unknown(path, name, free, role))
    for index, name in enumerate(names):
        if name not in roles.found and (original.parameters is None or not roles.problems):
            roles.wrong(original.request_file, _unassigned(original, (GROUPS, index, "InstanceGroupName"), name))
    return roles


Source = tuple[Path, str, Role, str | None]


def _sources(original: Original) -> Iterator[Source]:
    if original.parameters is None:
        yield from _by_slurm_config(original)
        return
    parameters = original.parameters
    yield ("controller_group",), parameters["controller_group"], Role.CONTROLLER, None
    if parameters.get("login_group"):
        yield ("login_group",), parameters["login_group"], Role.LOGIN, None
    for index, worker in enumerate(parameters.get("worker_groups", ())):
        path: Path = ("worker_groups", index, "instance_group_name")
        yield path, worker["instance_group_name"], Role.COMPUTE, worker["partition_name"]


def _by_slurm_config(original: Original) -> Iterator[Source]:
    for index, group in enumerate(original.groups):
        slurm: Mapping[str, Any] = group.get("SlurmConfig") or {}
        if "NodeType" in slurm:
            role = Role(slurm["NodeType"].lower())
            partition = next(iter(slurm.get("PartitionNames") or [UNNAMED])) if role is Role.COMPUTE else None
            yield (GROUPS, index, "SlurmConfig"), group["InstanceGroupName"], role, partition


def _assign(roles: Roles, original: Original, source: Source) -> None:
    path, name, role, partition = source
    if name in roles.found:
        other = roles.found[name][0]
        message = f"is {other.value if other else 'a'} group already"
        fix = "a group can have one role and one partition"
        roles.wrong(original.parameters_file, Problem(path, name, message, fix))
        return
    roles.found[name] = role, partition
    pattern = next(each.pattern for each in InstanceGroup.model_fields["partition"].metadata if hasattr(each, "pattern"))
    if partition is not None and not re.fullmatch(pattern, partition):
        where = (*path[:-1], "partition_name")
        roles.wrong(original.parameters_file, Problem(where, partition, in_words(pattern), "rename the partition"))


def _unknown(path: Path, name: str, free: list[str], role: Role) -> Problem:
    """Return the problem of an unknown group, with the group that may be meant."""
    if role is Role.CONTROLLER:
        fix = nearest(name, free) if free else "add the group that runs slurmctld, which has another role here"
    else:
        meant = f"{nearest(name, free)}; or leave" if free else "all of them have other roles: leave"
        fix = f"{meant} it out with --drop-unknown-groups"
    return Problem(path, name, f"{path[-1]} {name} is not an instance group", fix)


def _unassigned(original: Original, path: Path, name: str) -> Problem:
    if original.parameters is None:
        return Problem(path, name, "unknown role (controller, login or compute)", "also pass provisioning_parameters.json")
    return Problem(path, name, f"{original.parameters_file} has no role for it", "add it to worker_groups")


def parameter_problems(parameters: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the provisioning parameters."""
    for name, value in parameters.items():
        similar = nearest(name, [each for each in _KNOWN if each not in parameters])
        if name not in _KNOWN and similar.startswith("did you mean"):
            yield Problem((name,), value, "is not a provisioning parameter", similar)
        elif name in _TEXTS and not isinstance(value, str):
            yield Problem((name,), value, "must be text", "quote it")
    if not parameters.get("controller_group"):
        yield Problem(("controller_group",), ABSENT, "is required", "add the name of the group that runs slurmctld")
    if parameters.get("workload_manager", "slurm") != "slurm":
        yield Problem(("workload_manager",), parameters["workload_manager"], "must be slurm", "no other is supported")
    yield from _worker_problems(parameters.get("worker_groups", []))
    slurm = parameters.get(SLURM, {})
    if not isinstance(slurm, dict) or not all(isinstance(value, str) for value in slurm.values()):
        yield Problem((SLURM,), slurm, "must be an object with texts", "quote its values")


def _worker_problems(workers: object) -> Iterator[Problem]:
    if not isinstance(workers, list):
        yield Problem(("worker_groups",), workers, "must be a list", "write [{instance_group_name, partition_name}]")
        return
    for index, worker in enumerate(workers):
        for name in ("instance_group_name", "partition_name"):
            value = worker.get(name, ABSENT) if isinstance(worker, dict) else ABSENT
            if not isinstance(value, str) or not value:
                yield Problem(("worker_groups", index, name), value, "must be text", "add it")


_TEXTS = (
    "version",
    "workload_manager",
    "controller_group",
    "login_group",
    "fsx_dns_name",
    "fsx_mountname",
    "fsx_openzfs_dns_name",
)
SLURM = "slurm_configurations"
_KNOWN = (*_TEXTS, "worker_groups", SLURM)


def unknown_parameters(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of unknown provisioning parameters."""
    return [name for name in parameters if name not in _KNOWN]
