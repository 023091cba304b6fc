"""Read the desired state from an event, with the types of the service model: CloudFormation sends scalars as strings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cluster_resource.errors import PropertyError
from cluster_resource.event import ClusterProperties, Event, Json, Owner, cluster_name, create_only, created_name, is_reserved
from cluster_resource.observed import GROUP_KINDS

NUMBERS = {"integer": int, "long": int, "float": float, "double": float}
GENERATED = ("ClusterName",)
"""Required by CreateCluster, but not a property: the function generates it."""

BOOLEANS = {"true": True, "false": False}
WAITS = ("nodes", "cluster", "none")


def convert(value: Any, shape: Any, path: str, *, strict: bool = True) -> Any:
    """Return ``value`` with scalars of the types of ``shape`` (a botocore Shape); without ``strict``, unknown members stay."""
    match shape.type_name:
        case "structure":
            return _structure(value, shape, path, strict=strict)
        case "list":
            items = _require(value, list, "a list", path)
            return [convert(item, shape.member, f"{path}[{index}]", strict=strict) for index, item in enumerate(items)]
        case "map":
            entries = _require(value, dict, "a mapping", path)
            return {key: convert(item, shape.value, f"{path}.{key}", strict=strict) for key, item in entries.items()}
        case _:
            return _scalar(value, shape.type_name, path)


def _structure(value: Any, shape: Any, path: str, *, strict: bool) -> Any:
    members = _require(value, dict, "an object", path)
    unknown = sorted(members.keys() - shape.members.keys())
    if unknown and strict:
        known = ", ".join(shape.members)
        raise PropertyError(
            f"{path}.{unknown[0]}: unknown field of {shape.name} in this release's service model, which has {known}; "
            "correct the name, or deploy a release with a newer model"
        )
    missing = [name for name in shape.required_members if name not in members and name not in GENERATED]
    if missing and strict:
        raise PropertyError(f"{path}.{missing[0]}: required by {shape.name}; set a value")
    return {
        name: convert(item, shape.members[name], f"{path}.{name}", strict=strict) if name in shape.members else item
        for name, item in members.items()
    }


def _scalar(value: Any, type_name: str, path: str) -> Any:
    if isinstance(value, (dict, list)):
        raise PropertyError(f"{path}: must be a {type_name}, got {type(value).__name__}")
    if type_name == "boolean":
        text = str(value).lower()
        if text not in BOOLEANS:
            raise PropertyError(f"{path}: must be true or false, got {value!r}")
        return BOOLEANS[text]
    if type_name in NUMBERS:
        try:
            return NUMBERS[type_name](value)
        except ValueError:
            raise PropertyError(f"{path}: must be a number, got {value!r}") from None
    return str(value)


def _require(value: Any, kind: type, words: str, path: str) -> Any:
    if not isinstance(value, kind):
        raise PropertyError(f"{path}: must be {words}, got {value!r}")
    return value


class Desired(NamedTuple):
    """The desired state of one request. ``request`` and ``old_request`` are CreateCluster's input without name and tags."""

    type: str
    owner: Owner
    physical_id: str
    has_generated_id: bool
    name: str
    is_name_fixed: bool
    request: Json
    tags: Mapping[str, str]
    old_name: str
    """The cluster that the old properties create."""
    old_request: Json | None
    old_tags: Mapping[str, str]
    wait: str
    wait_hours: int
    controller_group: str
    zone: str
    adopt: bool
    """The cluster exists outside the stack: a Create adopts it, and a Delete releases it."""
    recreate: bool
    """An Update recreates a missing cluster under its name."""
    is_rollback: bool = False
    """The stack rolls back an update. Known only where it matters: to remove a member."""

    @classmethod
    def of(cls, event: Event, shape: Any) -> "Desired":
        """Return the desired state in ``event``; ``shape`` is CreateCluster's input in the service model.

        A Delete reads only names: no invalid property can block a deletion.
        """
        properties = ClusterProperties.of(event.properties)
        is_delete = event.request_type == "Delete"
        request = {} if is_delete else convert(properties.request, shape, "Request")
        old = None if is_delete or event.old_properties is None else _old(event.old_properties, shape)
        if properties.wait not in WAITS and not is_delete:
            raise PropertyError(f"Wait: must be one of {', '.join(WAITS)}, got {properties.wait!r}")
        return cls(
            type=event.request_type,
            owner=event.owner,
            physical_id=event.physical_id,
            has_generated_id=event.has_generated_id,
            name=cluster_name(event, event.properties),
            is_name_fixed=bool(properties.cluster_name),
            request=_fields(request),
            tags=_tags(request),
            old_name="" if event.old_properties is None else created_name(event, event.old_properties),
            old_request=None if old is None else _fields(old),
            old_tags=_tags(old or {}),
            wait=properties.wait,
            wait_hours=properties.wait_hours,
            controller_group=properties.controller_group,
            zone=properties.zone,
            adopt=properties.adopt,
            recreate=properties.recreate,
        )

    @property
    def initial_name(self) -> str:
        """Return the name of the cluster that the request starts with."""
        if self.type == "Create" or (self.type == "Delete" and self.has_generated_id):
            return self.name
        return self.physical_id

    @property
    def create_only(self) -> Json:
        """Return the values that only CreateCluster can set."""
        return create_only(self.request)

    @property
    def all_tags(self) -> dict[str, str]:
        """Return the user's tags and the ownership tags."""
        return {**self.tags, **self.owner.tags}

    def groups(self) -> list[tuple[str, Json]]:
        """Return the kind and the specification of every desired group."""
        return _groups(self.request)

    def old_groups(self) -> dict[str, Json]:
        """Return the groups in the old properties, by name."""
        return {group["InstanceGroupName"]: group for _, group in _groups(self.old_request or {})}


def _old(properties: Json, shape: Any) -> Json:
    """Return the old request, which shows what the file changed; another release may have written it."""
    request: Json = convert(ClusterProperties.of(properties).request, shape, "OldRequest", strict=False)
    return request


def _tags(request: Json) -> dict[str, str]:
    return {tag["Key"]: str(tag["Value"]) for tag in request.get("Tags", []) if not is_reserved(tag["Key"])}


def _fields(request: Json) -> Json:
    return {name: value for name, value in request.items() if name not in ("Tags", "ClusterName")}


def _groups(request: Mapping[str, Any]) -> list[tuple[str, Json]]:
    return [(kind, group) for kind in GROUP_KINDS for group in request.get(kind) or []]
