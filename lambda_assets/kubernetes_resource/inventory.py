"""Keep the list of applied objects in a ConfigMap, so that a later request finds what to delete.

It lists an object before its creation and until its deletion. So after a crash at any call it lists at least what exists.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from cluster_resource.event import LOGICAL_ID_TAG, STACK_ID_TAG, Json, Owner
from kubernetes_resource.client import KubernetesClient
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import INVENTORY_LABEL, MANAGED_BY, MANAGER, Reference, Target

COLLECTION = "/api/v1/namespaces/kube-system/configmaps"
ENTRIES = "objects"
STACK_ID, LOGICAL_ID = (tag.replace(":", "/") for tag in (STACK_ID_TAG, LOGICAL_ID_TAG))


class Listed(NamedTuple):
    """An inventory as it was read."""

    live: Json
    references: tuple[Reference, ...]
    owner: Owner


class Inventory:
    """The inventory of one resource."""

    def __init__(self, client: KubernetesClient, target: Target, owner: Owner) -> None:
        self._client = client
        self._target = target
        self._owner = owner
        self._name = f"{MANAGER}-{target.name}"

    def __str__(self) -> str:
        """Return the name that errors show."""
        return f"ConfigMap kube-system/{self._name}"

    def read(self) -> Listed | None:
        """Return the inventory, or nothing if it does not exist."""
        live = self._client.get(f"{COLLECTION}/{self._name}", str(self))
        if live is None:
            return None
        annotations = live["metadata"].get("annotations") or {}
        owner = Owner(annotations.get(STACK_ID, ""), annotations.get(LOGICAL_ID, ""))
        return Listed(live, self._references(live), owner)

    def is_ours(self, listed: Listed) -> bool:
        """Return whether this resource wrote the inventory."""
        return listed.owner == self._owner

    def check_owner(self, listed: Listed) -> None:
        """Raise an error if another resource wrote the inventory, unless its stack was deleted and this stack has its name."""
        if not self.is_ours(listed) and not _is_successor(self._owner, listed.owner):
            fix = f"delete that stack; if it no longer exists, delete only the {self}, and deploy again"
            raise KubernetesError(Kind.FOREIGN, str(self), f"belongs to {listed.owner}", fix=fix)

    def write(self, references: Iterable[Reference], listed: Listed | None) -> None:
        """Write references and owner, unless they are listed; another write since the read is an error."""
        chosen = tuple(sorted(set(references), key=lambda each: each.key))
        if listed and listed.references == chosen and self.is_ours(listed):
            return
        desired = self._config_map(chosen)
        if listed is None:
            self._client.create(COLLECTION, desired, str(self))
            return
        desired["metadata"]["resourceVersion"] = listed.live["metadata"]["resourceVersion"]
        self._client.replace(f"{COLLECTION}/{self._name}", desired, str(self))

    def delete(self, listed: Listed) -> None:
        """Delete the inventory."""
        self._client.delete(f"{COLLECTION}/{self._name}", listed.live, str(self))

    def _config_map(self, references: tuple[Reference, ...]) -> Json:
        metadata: Json = {
            "name": self._name,
            "namespace": "kube-system",
            "labels": {MANAGED_BY: MANAGER, INVENTORY_LABEL: self._target.name},
            "annotations": {STACK_ID: self._owner.stack_id, LOGICAL_ID: self._owner.logical_id},
        }
        entries = json.dumps([reference._asdict() for reference in references], indent=1)
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {ENTRIES: entries}}

    def _references(self, live: Json) -> tuple[Reference, ...]:
        """Return the listed references; a list that a person broke is an error, because nothing else shows what to delete."""
        try:
            entries = json.loads((live.get("data") or {})[ENTRIES])
            return tuple(Reference(**{name: str(entry[name]) for name in Reference._fields}) for entry in entries)
        except (KeyError, TypeError, ValueError) as error:
            fix = "restore it, or delete the ConfigMap and the objects with its label"
            raise KubernetesError(Kind.INVALID, str(self), f"data.{ENTRIES} is not a list of objects", fix=fix) from error


def _is_successor(owner: Owner, earlier: Owner) -> bool:
    """Return whether a resource succeeds an earlier one: two stacks have the same name only if the earlier one was deleted."""
    name, _, _ = owner.stack_id.rpartition("/")
    return bool(name) and owner.logical_id == earlier.logical_id and name == earlier.stack_id.rpartition("/")[0]
