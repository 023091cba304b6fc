"""Keep how far a request has come, so that its next step continues there. Runs in Lambda."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from cluster_resource.event import Json
from kubernetes_resource.objects import Reference

APPLIED, REMOVED = "applied", "removed"
KEYS = (APPLIED, REMOVED, "removal", "kept", "released")


class Position:
    """The objects that need no more calls. It is kept when a call fails, but not when the function dies.

    Numbers count objects in their fixed order: the identities of all would not fit into the execution's state.
    """

    def __init__(self, rest: Mapping[str, Any]) -> None:
        self.applied = int(rest.get(APPLIED) or 0)
        """How many objects are applied."""
        self.removed = int(rest.get(REMOVED) or 0)
        """How many objects are deleted, or stay."""
        self.removal = str(rest.get("removal") or "")
        """The digest of the objects that ``removed`` counts."""
        self.kept: dict[str, str] = dict(rest.get("kept") or {})
        """Why objects are not deleted, by identity. To find that out can take a step's time for each namespace."""
        self.released: dict[str, str] = dict(rest.get("released") or {})
        """The new owners of objects that are not deleted, by identity."""

    def start_removal(self, references: Iterable[Reference]) -> None:
        """Count from the beginning if the objects to remove are others than in the last step."""
        digest = hashlib.sha256(repr([reference.key for reference in references]).encode()).hexdigest()[:12]
        if digest != self.removal:
            self.removal, self.removed = digest, 0

    def dump(self) -> Json:
        """Return the position as JSON."""
        return {name: getattr(self, name) for name in KEYS}
