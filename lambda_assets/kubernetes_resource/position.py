"""Keep how far a request has come, so that its next step continues there."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from cluster_resource.decision import cut, json_size
from cluster_resource.event import Json
from kubernetes_resource.objects import Reference

APPLIED, REMOVED = "applied", "removed"
IN_USE, OTHER_OWNER = "it is in use", "it belongs to another owner"
"""The reasons that are left if all do not fit; the response could not hold them either."""
MAX_REASON, MAX_REASONS = 300, 2000
"""In bytes of JSON. With the objects, a step's input can be near the 256 KiB that Step Functions accepts."""


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
        """Why objects are not deleted, by digest of the object. To find that out can take a step's time for each namespace."""
        self.released: dict[str, str] = dict(rest.get("released") or {})
        """The new owners of objects that are not deleted, by digest of the object."""

    def start_removal(self, references: Iterable[Reference]) -> None:
        """Count from the beginning if the objects to remove are others than in the last step."""
        digest = hashlib.sha256(repr([reference.digest for reference in references]).encode()).hexdigest()[:12]
        if digest != self.removal:
            self.removal, self.removed = digest, 0

    def dump(self) -> Json:
        """Return the position as JSON."""
        reasons = {"kept": _short(self.kept, IN_USE), "released": _short(self.released, OTHER_OWNER)}
        return {APPLIED: self.applied, REMOVED: self.removed, "removal": self.removal, **reasons}


def _short(reasons: Mapping[str, str], other: str) -> dict[str, str]:
    """Return the first reasons, cut, and ``other`` for the rest."""
    left, kept = MAX_REASONS, {}
    for digest, reason in reasons.items():
        text = cut(reason, MAX_REASON)
        left -= json_size(text)
        kept[digest] = text if left >= 0 else other
    return kept
