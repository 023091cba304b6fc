"""Keep what the steps of a request did, so that a failure is reported and not repeated."""

from collections.abc import Mapping
from typing import Any

from cluster_resource.event import Json

KEYS = ("created", "updated", "deleted", "retagged", "suspected", "ours")


class Progress:
    """The calls of this request that were accepted. It is kept when a call fails, but not when the function dies."""

    def __init__(self, rest: Mapping[str, Any]) -> None:
        self.created: dict[str, str] = dict(rest.get("created") or {})
        """Teams whose quota was created, with its ID; without a team, the scheduler config."""
        self.updated: dict[str, int] = dict(rest.get("updated") or {})
        """IDs of updated quotas, with the version that this gave."""
        self.deleted: list[str] = list(rest.get("deleted") or ())
        self.retagged: list[str] = list(rest.get("retagged") or ())
        self.suspected: list[str] = list(rest.get("suspected") or ())
        """IDs of quotas that showed a failure once; a reply can be older than the call."""
        self.ours: dict[str, bool] = dict(rest.get("ours") or {})
        """IDs of quotas whose tags were read, with whether they are ours."""

    def is_confirmed(self, id: str) -> bool:
        """Return whether the quota showed a failure in an earlier step, too."""
        if id in self.suspected:
            return True
        self.suspected.append(id)
        return False

    def dump(self) -> Json:
        """Return the progress as JSON."""
        return {name: getattr(self, name) for name in KEYS if getattr(self, name)}

    @property
    def note(self) -> str:
        """Return the changes as text."""
        words = (("created", self.created), ("updated", self.updated), ("deleted", self.deleted))
        return ", ".join(f"{word} {len(done)}" for word, done in words if done) or "nothing changed"
