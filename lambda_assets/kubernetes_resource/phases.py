"""Converge to the desired objects, or delete all: the order of inventory, apply and removal.

Each function starts from the beginning in every step, except that applied objects and those known to be kept are skipped. Objects
are applied server-side, without force, and deleted in the reverse order until they are gone.
"""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from cluster_resource.errors import PendingError
from cluster_resource.event import Json
from cluster_resource.fenced_step import Done
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.inventory import Inventory
from kubernetes_resource.objects import DEFINITION, RANKS, Desired, Reference, deletion_text, owner_text
from kubernetes_resource.occupants import reason_to_keep, use_of
from kubernetes_resource.position import Position
from kubernetes_resource.session import Session

KEPT = "KeptObjects"
"""The attribute with the objects that a request kept, and why."""
PAUSES_S = (0.2, 0.5, 1, 2)
"""Most deletions end within seconds; the next step waits for the others."""


class Removal(NamedTuple):
    """What a removal left."""

    occupied: dict[Reference, str]
    """Objects in use, or that hold or may hold those of other owners, with the reason. They stay in the inventory."""
    released: dict[Reference, str]
    """Objects that another owner took over."""

    @property
    def note(self) -> str:
        """Return the kept objects as text."""
        return "; ".join(f"{reference} is kept: {why}" for reference, why in {**self.occupied, **self.released}.items())


def converge(
    session: Session, desired: Desired, inventory: Inventory, position: Position, previous: tuple[Reference, ...]
) -> Done:
    """List, apply and prune; return the result. ``previous`` replaces an inventory that was deleted."""
    listed = inventory.read()
    if listed:
        inventory.check_owner(listed)
    keys = {reference.key for reference in desired.references}
    stale = [reference for reference in (listed.references if listed else previous) if reference.key not in keys]
    inventory.write((*desired.references, *stale), listed)
    _apply_all(session, desired, position)
    removal = _remove_all(session, stale, position)
    inventory.write((*desired.references, *removal.occupied), inventory.read())
    pruned = len(stale) - len(removal.occupied) - len(removal.released)
    parts = [f"applied {len(desired.objects)} objects", *([f"deleted {pruned}"] if pruned else []), removal.note]
    return Done("; ".join(part for part in parts if part), {KEPT: removal.note})


def delete(session: Session, inventory: Inventory, position: Position, previous: tuple[Reference, ...]) -> Done:
    """Delete all listed objects, then the inventory; return the result."""
    listed = inventory.read()
    if listed and not inventory.is_ours(listed):
        return Done(f"not deleted: {inventory} belongs to {listed.owner}")
    removal = _remove_all(session, listed.references if listed else previous, position)
    if listed:
        inventory.delete(listed)
    return Done(removal.note or "all objects are deleted")


def _apply_all(session: Session, desired: Desired, position: Position) -> None:
    """Apply the objects from the position on; raise PendingError if the rest must wait."""
    last_definition = sum(reference.rank <= RANKS[DEFINITION] for reference in desired.references)
    while position.applied <= len(desired.objects):
        if position.applied == last_definition:
            _check_established(session, desired)
        if position.applied == len(desired.objects):
            return
        _apply(session, desired, desired.objects[position.applied])
        position.applied += 1


def _apply(session: Session, desired: Desired, item: Json) -> None:
    """Apply one object, unless another owner has it or it is being deleted."""
    reference = Reference.of(item)
    path = _path(session, desired, reference)
    live = session.client.get(path, str(reference))
    if live:
        if live["metadata"].get("deletionTimestamp"):
            if in_use := use_of(session, reference, live):  # then the end of its deletion depends on its users
                raise KubernetesError(Kind.IN_USE, str(reference), f"is being deleted, but {in_use}")
            raise PendingError(f"{reference}: an earlier object is still being deleted{deletion_text(live)}")
        if not session.target.owns(live):
            raise KubernetesError(Kind.FOREIGN, str(reference), f"exists and belongs to {owner_text(live)}")
        # The API server refuses another uid, so an object that replaced this one since then is not changed.
        item = {**item, "metadata": {**item["metadata"], "uid": live["metadata"]["uid"]}}
    session.client.apply(path, item, str(reference))


def _path(session: Session, desired: Desired, reference: Reference) -> str:
    path = session.discovery.path(reference)
    if path:
        return path
    if (reference.group, reference.kind) in desired.defined_kinds:
        raise PendingError(f"{reference}: its definition is not served yet")
    problem = f"the EKS cluster does not serve kind {reference.kind} of {reference.api_version}"
    raise KubernetesError(Kind.INVALID, str(reference), problem)


def _check_established(session: Session, desired: Desired) -> None:
    """Raise PendingError if a definition is not in effect yet, or an error if its names are taken."""
    for reference in (each for each in desired.references if each.kind == DEFINITION):
        live = session.client.get(_path(session, desired, reference), str(reference)) or {}
        conditions = {each["type"]: each for each in (live.get("status") or {}).get("conditions") or ()}
        if conditions.get("NamesAccepted", {}).get("status") == "False":
            raise KubernetesError(Kind.INVALID, str(reference), conditions["NamesAccepted"].get("message", "its names are taken"))
        if conditions.get("Established", {}).get("status") != "True":
            raise PendingError(f"{reference}: not established yet")


def _remove_all(session: Session, references: Iterable[Reference], position: Position) -> Removal:
    """Delete the objects from the position on; raise PendingError until they are gone."""
    ordered = sorted(references, key=lambda each: (-each.rank, each.key))
    position.start_removal(ordered)
    left = ordered[position.removed :]
    for _, group in itertools.groupby(left, key=lambda each: each.rank):
        _remove_group(session, list(group), position)
    occupied, released = (
        {each: reasons[each.digest] for each in ordered if each.digest in reasons}
        for reasons in (position.kept, position.released)
    )
    return Removal(occupied, released)


def _remove_group(session: Session, references: list[Reference], position: Position) -> None:
    """Delete objects of the same rank and wait a moment for their end."""
    left: dict[Reference, str] = {}
    before = position.removed
    for number, reference in enumerate(references, 1):
        if why := _removed(session, reference, position):
            left[reference] = why
        if not left:
            position.removed = before + number
    for pause in PAUSES_S:
        if not left or not session.client.has_time:
            break
        session.sleep(pause)
        left = {reference: why for reference in left if (why := _removed(session, reference, position))}
    if left:
        raise PendingError("; ".join(f"{reference}: {why}" for reference, why in left.items()))
    position.removed = before + len(references)


def _removed(session: Session, reference: Reference, position: Position) -> str:
    """Delete an object if that is not done; return why it still exists, or nothing if it is gone or kept."""
    path = session.discovery.path_in_any_version(reference)
    live = session.client.get(path, str(reference)) if path else None
    if path is None or live is None:
        position.kept.pop(reference.digest, None)
        return ""
    if not session.target.owns(live):
        position.kept.pop(reference.digest, None)
        position.released[reference.digest] = f"it belongs to {owner_text(live)}"
        return ""
    reason = position.kept.get(reference.digest) or reason_to_keep(session, reference, live)
    if reason:
        position.kept[reference.digest] = reason
        return ""
    if live["metadata"].get("deletionTimestamp"):
        return f"being deleted{deletion_text(live)}"
    try:
        session.client.delete(path, live, str(reference))
    except KubernetesError as error:
        if error.kind is not Kind.STALE:
            raise
        return "changed since it was read"
    return "being deleted"
