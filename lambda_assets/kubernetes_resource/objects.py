"""Read the desired objects from the properties, identify them, and order them by kind."""

import base64
import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cluster_resource.errors import PropertyError
from cluster_resource.event import Json
from cluster_resource.property_values import typed

DEPENDENCIES = "Custom::HyperPodDependencies"
NAMESPACE = "Namespace"
DEFINITION = "CustomResourceDefinition"
VOLUME, CLAIM = "PersistentVolume", "PersistentVolumeClaim"
MANAGED_BY, MANAGER = "app.kubernetes.io/managed-by", "hyperpod-cdk"
INVENTORY_LABEL = "hyperpod-cdk/inventory"
PACKED = "xz:"
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")

RANKS = {
    NAMESPACE: 0,
    DEFINITION: 1,
    "PriorityClass": 2,
    "ServiceAccount": 2,
    VOLUME: 2,
    "ClusterRole": 3,
    "Role": 3,
    "ClusterRoleBinding": 4,
    "RoleBinding": 4,
    "ConfigMap": 5,
    "Secret": 5,
    "Service": 6,
    "APIService": 8,
    "ValidatingWebhookConfiguration": 8,
    "MutatingWebhookConfiguration": 8,
}
"""Each kind comes after those that it needs; a webhook or an aggregated API would fail calls before its workload exists."""
OTHER_RANK = 7


class Reference(NamedTuple):
    """The identity of an object, and the version in which it was written."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "Reference":
        """Return the reference to an object."""
        metadata = item["metadata"]
        return cls(item["apiVersion"], item["kind"], str(metadata.get("namespace") or ""), metadata["name"])

    @property
    def group(self) -> str:
        """Return the API group; "" is the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def key(self) -> tuple[str, ...]:
        """Return the identity: an object stays the same in another version of its group."""
        return (self.group, self.kind, self.namespace, self.name)

    @property
    def digest(self) -> str:
        """Return a short text for the identity."""
        return hashlib.sha256("/".join(self.key).encode()).hexdigest()[:12]

    @property
    def rank(self) -> int:
        """Return the position of its kind in the order."""
        return RANKS.get(self.kind, OTHER_RANK)

    def __str__(self) -> str:
        """Return the reference as errors show it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Target(NamedTuple):
    """Where the objects are: an EKS cluster, and the inventory in it."""

    cluster: str
    name: str

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "Target":
        """Return the target in the properties."""
        target = cls(str(properties.get("ClusterName") or ""), str(properties.get("Name") or ""))
        if not target.cluster:
            raise PropertyError("ClusterName: missing; name the EKS cluster")
        if not NAME.fullmatch(target.name):
            raise PropertyError(f"Name: {target.name!r} is invalid; use at most 50 lowercase letters, digits and hyphens")
        return target

    @property
    def physical_id(self) -> str:
        """Return the physical ID of the resource."""
        return f"{self.cluster}/{self.name}"

    def check_name(self, physical_id: str) -> None:
        """Raise an error if the name changed: the objects on the same EKS cluster have it as a label."""
        cluster, _, name = physical_id.partition("/")
        if name and cluster == self.cluster and name != self.name:
            raise PropertyError(f"Name: changed from {name} to {self.name}, but the objects have it as a label; keep {name}")

    def owns(self, live: Mapping[str, Any]) -> bool:
        """Return whether an object carries the labels of this inventory."""
        labels = live["metadata"].get("labels") or {}
        return (labels.get(MANAGED_BY), labels.get(INVENTORY_LABEL)) == (MANAGER, self.name)


class Desired(NamedTuple):
    """The desired state of a Create or an Update."""

    target: Target
    objects: tuple[Json, ...]

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "Desired":
        """Return the desired state: labelled objects in the order in which they are applied.

        Each has a property whose name starts with `Object`. `Objects` has the packed ones, and all those of an older deployment.
        """
        target = Target.of(properties)
        listed = [(f"Objects[{index}]", text) for index, text in enumerate(properties.get("Objects") or ())]
        named = [(name, value) for name, value in properties.items() if name.startswith("Object") and name != "Objects"]
        items = [item for name, value in (*listed, *named) for item in _parsed(name, value)]
        _check_unique(Reference.of(item) for item in items)
        labelled = (_labelled(item, target) for item in items)
        ordered = sorted(labelled, key=lambda item: (Reference.of(item).rank, Reference.of(item).key))
        return cls(target, tuple(ordered))

    @property
    def references(self) -> tuple[Reference, ...]:
        """Return the references to the objects, in order."""
        return tuple(map(Reference.of, self.objects))

    @property
    def defined_kinds(self) -> set[tuple[str, str]]:
        """Return group and kind of the custom resources that the objects define."""
        specs = [item.get("spec") or {} for item in self.objects if item["kind"] == DEFINITION]
        return {(spec.get("group", ""), (spec.get("names") or {}).get("kind", "")) for spec in specs}


def references_in(properties: Mapping[str, Any]) -> tuple[Reference, ...]:
    """Return the references to the objects in the properties; none if they are malformed, because then none was applied."""
    try:
        return Desired.of(properties).references
    except PropertyError:
        return ()


def owner_text(live: Mapping[str, Any]) -> str:
    """Return who owns an object, by its labels or its managers."""
    labels = live["metadata"].get("labels") or {}
    if labels.get(INVENTORY_LABEL):
        return f"inventory {labels[INVENTORY_LABEL]}"
    managers = {entry["manager"] for entry in live["metadata"].get("managedFields") or () if entry["manager"] != MANAGER}
    return str(labels.get(MANAGED_BY) or ", ".join(sorted(managers)) or "an unknown owner")


def deletion_text(live: Mapping[str, Any]) -> str:
    """Return what blocks a deletion, as text after a statement."""
    finalizers = [*(live["metadata"].get("finalizers") or ()), *((live.get("spec") or {}).get("finalizers") or ())]
    conditions = (live.get("status") or {}).get("conditions") or ()
    messages = [each.get("message", "") for each in conditions if each.get("status") == "True" and _is_about_deletion(each)]
    parts = ([f"finalizers {', '.join(map(str, finalizers))}"] if finalizers else []) + messages
    return f" ({'; '.join(parts)})" if parts else ""


def _parsed(field: str, value: object) -> Iterator[Json]:
    """Yield the object in a property, or those in a packed text."""
    if isinstance(value, str) and value.startswith(PACKED):
        yield from (_checked(field, item) for item in _unpacked(field, value))
        return
    yield _checked(field, typed(value))


def _unpacked(field: str, text: str) -> list[object]:
    """Return the objects of a packed text: they are too large for an event."""
    try:
        items = json.loads(lzma.decompress(base64.b64decode(text.removeprefix(PACKED), validate=True)))
    except (ValueError, lzma.LZMAError):
        items = None
    if not isinstance(items, list):
        raise PropertyError(f"{field}: cannot be unpacked; deploy again with an unchanged template")
    return items


def _checked(field: str, item: object) -> Json:
    """Return the object if it has an identity."""
    if not isinstance(item, dict):
        raise PropertyError(f"{field}: not an object; pass an object, or its JSON text")
    metadata = item.get("metadata")
    named = [item.get("apiVersion"), item.get("kind"), metadata.get("name") if isinstance(metadata, dict) else None]
    if not all(isinstance(value, str) and value for value in named):
        raise PropertyError(f"{field}: lacks apiVersion, kind or metadata.name; add them")
    return item


def _check_unique(references: Iterable[Reference]) -> None:
    seen = set()
    for reference in references:
        if reference.key in seen:
            raise PropertyError(f"Objects: {reference} appears twice; remove one")
        seen.add(reference.key)


def _labelled(item: Json, target: Target) -> Json:
    """Return the object with the labels that mark it as ours."""
    metadata = item["metadata"]
    labels = {**(metadata.get("labels") or {}), MANAGED_BY: MANAGER, INVENTORY_LABEL: target.name}
    return {**item, "metadata": {**metadata, "labels": labels}}


def _is_about_deletion(condition: Mapping[str, Any]) -> bool:
    """Return whether a condition of a Namespace or a definition says why its deletion takes long."""
    return str(condition.get("type")).startswith(("Namespace", "Terminating"))
