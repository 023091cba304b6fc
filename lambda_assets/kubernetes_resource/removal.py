"""Delete objects in the reverse order, and verify that they are gone. Runs in Lambda."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from cluster_resource.errors import PendingError
from kubernetes_resource.objects import Reference, deletion_text, owner_text
from kubernetes_resource.occupants import reason_to_keep
from kubernetes_resource.session import Session

PAUSES_S = (0.2, 0.5, 1, 2)
"""Most deletions end within seconds; the next step waits for the others."""


class Removal(NamedTuple):
    """What a removal left."""

    occupied: dict[Reference, str]
    """Objects in use, or that hold or may hold those of other owners, with the reason. They stay in the inventory."""
    released: dict[Reference, str]
    """Objects that another owner took over."""
    kept: dict[str, str]
    """The reasons for ``occupied`` that a request remembers."""

    @property
    def note(self) -> str:
        """Return the kept objects as text."""
        return "; ".join(f"{reference} is kept: {why}" for reference, why in {**self.occupied, **self.released}.items())


def remove(session: Session, references: Iterable[Reference], kept: dict[str, str]) -> Removal:
    """Delete the objects; raise PendingError until they are gone.

    ``kept`` has the reasons that earlier steps found, by identity, and gets those of this one.
    """
    removal = Removal({}, {}, kept)
    ordered = sorted(references, key=lambda each: (-each.rank, each.key))
    for _, group in itertools.groupby(ordered, key=lambda each: each.rank):
        _remove_group(session, list(group), removal)
    return removal


def _remove_group(session: Session, references: list[Reference], removal: Removal) -> None:
    """Delete objects of the same rank and wait a moment for their end."""
    left = {reference: why for reference in references if (why := _removed(session, reference, removal))}
    for pause in PAUSES_S:
        if not left or not session.has_time:
            break
        session.sleep(pause)
        left = {reference: why for reference in left if (why := _removed(session, reference, removal))}
    if left:
        raise PendingError("; ".join(f"{reference}: {why}" for reference, why in left.items()))


def _removed(session: Session, reference: Reference, removal: Removal) -> str:
    """Delete an object if that is not done; return why it still exists, or nothing if it is gone or kept."""
    session.check_time()
    path = session.discovery.path_in_any_version(reference)
    live = session.client.get(path, str(reference)) if path else None
    if path is None or live is None:
        return ""
    if not session.target.owns(live):
        removal.released[reference] = f"it belongs to {owner_text(live)}"
        return ""
    identity = "/".join(reference.key)
    reason = removal.kept.get(identity) or reason_to_keep(session, reference, live)
    if reason:
        removal.occupied[reference] = removal.kept[identity] = reason
        return ""
    if live["metadata"].get("deletionTimestamp"):
        return f"being deleted{deletion_text(live)}"
    session.client.delete(path, live, str(reference))
    return "being deleted"
