"""Delete objects in the reverse order, and verify that they are gone. Runs in Lambda."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from cluster_resource.errors import PendingError
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import Reference, deletion_text, owner_text
from kubernetes_resource.occupants import reason_to_keep
from kubernetes_resource.position import Position
from kubernetes_resource.session import Session

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


def remove(session: Session, references: Iterable[Reference], position: Position) -> Removal:
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
