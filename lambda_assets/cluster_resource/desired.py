"""Runs in Lambda. What one request wants of a cluster, with its scalars typed again and its names worked out."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cluster_resource.event import ClusterProperties, Event, Json
from cluster_resource.identity import cluster_name, create_only
from cluster_resource.observed import GROUP_KINDS
from cluster_resource.ownership import Owner, is_reserved
from cluster_resource.typed import PropertyError, typed

WAITS = ("nodes", "cluster", "none")


class Desired(NamedTuple):
    """What one request wants. ``request`` and ``old_request`` are CreateCluster's input without name and tags."""

    type: str
    owner: Owner
    physical_id: str
    has_invented_id: bool
    name: str
    is_name_fixed: bool
    request: Json
    tags: Mapping[str, str]
    old_name: str
    old_request: Json | None
    old_tags: Mapping[str, str]
    wait: str
    wait_hours: int
    controller_group: str
    zone: str
    adopt: bool
    """The cluster was made by somebody else: a Create takes it over, and a Delete gives it back."""
    recreate: bool
    """An Update whose cluster is gone makes it anew, under its name."""

    @classmethod
    def of(cls, event: Event, shape: Any) -> "Desired":
        """What ``event`` wants; ``shape`` is CreateCluster's input in the service model. Raises PropertyError.

        A Delete needs names alone, so that no property, however wrong, can keep a cluster alive.
        """
        properties = ClusterProperties.of(event.properties)
        is_delete = event.request_type == "Delete"
        new = _Request({} if is_delete else properties.request, shape, strict=not is_delete)
        old = None if is_delete or event.old_properties is None else _old(event.old_properties, shape)
        if properties.wait not in WAITS and not is_delete:
            raise PropertyError(f"Wait must be one of {', '.join(WAITS)}, got {properties.wait!r}")
        return cls(
            type=event.request_type,
            owner=Owner(event.stack_id, event.logical_id),
            physical_id=event.physical_id,
            has_invented_id=event.has_invented_id,
            name=cluster_name(event, event.properties),
            is_name_fixed=bool(properties.cluster_name),
            request=new.fields,
            tags=new.tags,
            old_name="" if event.old_properties is None else cluster_name(event, event.old_properties),
            old_request=None if old is None else old.fields,
            old_tags={} if old is None else old.tags,
            wait=properties.wait,
            wait_hours=properties.wait_hours,
            controller_group=properties.controller_group,
            zone=properties.zone,
            adopt=properties.adopt,
            recreate=properties.recreate,
        )

    @property
    def first_name(self) -> str:
        """The cluster that the request begins with."""
        if self.type == "Create" or (self.type == "Delete" and self.has_invented_id):
            return self.name
        return self.physical_id

    @property
    def create_only(self) -> Json:
        """What the request fixes for the cluster's life."""
        return create_only(self.request)

    @property
    def all_tags(self) -> dict[str, str]:
        """The user's tags and those that say whose the cluster is."""
        return {**self.tags, **self.owner.tags}

    def groups(self) -> list[tuple[str, Json]]:
        """The kind and the specification of every group that the request asks for."""
        return _groups(self.request)

    def old_groups(self) -> dict[str, Json]:
        """The groups that the properties before this request asked for, by name."""
        return {group["InstanceGroupName"]: group for _, group in _groups(self.old_request or {})}


class _Request:
    """A request's fields, typed, and its tags apart."""

    def __init__(self, raw: Mapping[str, Any], shape: Any, *, strict: bool) -> None:
        fields = dict(raw) if not strict else typed(dict(raw), shape, "Request")
        self.tags = {tag["Key"]: str(tag["Value"]) for tag in fields.get("Tags", []) if not is_reserved(tag["Key"])}
        self.fields = {name: value for name, value in fields.items() if name not in ("Tags", "ClusterName")}


def _old(properties: Mapping[str, Any], shape: Any) -> _Request:
    """The properties before: another release may have written them, and they only help to tell what the file changed."""
    raw = ClusterProperties.of(properties).request
    return _Request(typed(raw, shape, "OldRequest", strict=False), shape, strict=False)


def _groups(request: Mapping[str, Any]) -> list[tuple[str, Json]]:
    return [(kind, group) for kind in GROUP_KINDS for group in request.get(kind) or []]
