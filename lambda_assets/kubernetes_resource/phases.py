"""Converge to the desired objects, or delete all: the order of inventory, apply and removal. Runs in Lambda.

Each function starts from the beginning in every step, except that applied objects and those known to be kept are skipped.
"""

from cluster_resource.fenced_step import Done
from kubernetes_resource.apply import apply_objects
from kubernetes_resource.inventory import Inventory
from kubernetes_resource.objects import Desired, Reference
from kubernetes_resource.position import Position
from kubernetes_resource.removal import remove
from kubernetes_resource.session import Session

KEPT = "KeptObjects"
"""The attribute with the objects that a request kept, and why."""


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
    apply_objects(session, desired, position)
    removal = remove(session, stale, position)
    inventory.write((*desired.references, *removal.occupied), inventory.read())
    pruned = len(stale) - len(removal.occupied) - len(removal.released)
    parts = [f"applied {len(desired.objects)} objects", *([f"deleted {pruned}"] if pruned else []), removal.note]
    return Done("; ".join(part for part in parts if part), {KEPT: removal.note})


def delete(session: Session, inventory: Inventory, position: Position, previous: tuple[Reference, ...]) -> Done:
    """Delete all listed objects, then the inventory; return the result."""
    listed = inventory.read()
    if listed and not inventory.is_ours(listed):
        return Done(f"not deleted: {inventory} belongs to {listed.owner}")
    removal = remove(session, listed.references if listed else previous, position)
    if listed:
        inventory.delete(listed)
    return Done(removal.note or "all objects are deleted")
