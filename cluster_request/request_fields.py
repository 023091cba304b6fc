"""Find the place in a cluster file that sets a member of the CreateCluster request."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from config.entries import numbered
from config.errors import Path
from config.fields import section_of
from config.model import ClusterConfig
from config.section import Section

OPERATION = "sagemaker:CreateCluster "

ENTRY = "[]"
GROUPS = ("InstanceGroups", ENTRY)

# Fields whose value the request changes or leaves out: an uploaded folder becomes a prefix, a key is that of two volumes, roles
# and partitions are members only with `slurm.setup: api`, the database only with `database: managed`, and EKS has an ARN.
SLURM_API_FIELDS: frozenset[Path] = frozenset({("instance_groups", "role"), ("instance_groups", "partition")})
TRANSFORMED = (
    SLURM_API_FIELDS
    | {("eks", "autoscaling"), ("eks", "existing", "name"), ("instance_groups", "labels"), ("instance_groups", "taints")}
    | {("instance_groups", "taints", name) for name in ("key", "value", "effect")}
    | {("instance_groups", "capacity"), ("instance_groups", "volume_key_arn"), ("lifecycle", "source"), ("provisioning",)}
    | {("slurm", "accounting", name) for name in ("host", "port", "schema_name", "secret_arn")}
)

# The names of a member, with [] for each entry of a list: ("InstanceGroups", "[]", "InstanceType").
Names = tuple[str, ...]


@cache
def request_fields() -> Mapping[Names, Path]:
    """Return the members that fields set, each with its field: ("instance_groups", "instance_type")."""
    return dict(_of_section(ClusterConfig, ()))


def _of_section(section: type[Section], above: Path) -> Iterator[tuple[Names, Path]]:
    for name, field in section.model_fields.items():
        extra: Any = field.json_schema_extra
        if extra["api"].startswith(OPERATION):
            yield tuple(extra["api"].removeprefix(OPERATION).replace(ENTRY, f".{ENTRY}").split(".")), (*above, name)
        if below := section_of(field.annotation):
            yield from _of_section(below, (*above, name))


def in_file(config: ClusterConfig, path: Path) -> Path:
    """Return the path in the file that sets a member of the request: a field, or `overrides`."""
    match path:
        case ("Tags", int(index), *_):
            return ("tags", list(config.tags)[index])
        case ("InstanceGroups", int(index), *rest):
            above: Path = ("instance_groups", list(numbered(config.instance_groups))[index][0])
            below: Path = tuple(rest)
        case _:
            above, below = (), path
    if not below:
        return above
    field = None if is_overridden(config, path) else _field(path)
    if field is None or (field in SLURM_API_FIELDS and not config.uses_slurm_api) or (field[0] == "eks" and not config.eks):
        return (*above, "overrides", *below)
    return (*above, *field[1:]) if above and field[0] == "instance_groups" else field


def is_overridden(config: ClusterConfig, path: Path) -> bool:
    """Return whether `overrides` set the member, or what contains it."""
    match path:
        case ("InstanceGroups", int(index), *rest):
            return _contains(config.instance_groups[index].overrides, rest)
    return _contains(config.overrides, path)


def _contains(overrides: object, path: Iterable[str | int]) -> bool:
    for part in path:
        if not isinstance(overrides, Mapping):
            return True  # lists are replaced as a whole, and null removes the member
        if part not in overrides:
            return False
        overrides = overrides[part]
    return True


def _field(path: Path) -> Path | None:
    """Return the field that sets the member or a part of it, with the index in the field's list."""
    fields = request_fields()
    names = tuple(ENTRY if isinstance(part, int) else part for part in path)
    around = [members for members in fields if members == names[: len(members)] and members != GROUPS[:1]]
    if around:
        longest = max(around, key=len)
        below = path[len(longest) :]
        field = fields[longest]
        if field[1:2] == ("taints",):
            return (*field[:2], *path[4:5], *field[2:])
        has_entry = len(below) == 1 and (isinstance(below[0], int) or field[1:] == ("labels",))
        return (*field, *below) if has_entry else field
    return next((field for members, field in fields.items() if names == members[: len(names)]), None)


@cache
def group_fields() -> Mapping[str, str]:
    """Return the members of an instance group that a field of the group sets."""
    own = {members: field for members, field in request_fields().items() if members[:2] == GROUPS and field not in TRANSFORMED}
    return {members[2]: str(field[1]) for members, field in own.items() if field[0] == "instance_groups"}
