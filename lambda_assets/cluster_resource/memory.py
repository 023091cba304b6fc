"""Runs in Lambda. What one step tells the next; it lives in the execution's state and ends with it.

A rollback of the stack can bring older code before newer memory: fields that this release does not know are handed on untouched.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from cluster_resource.event import Json

VERSION = 1


@dataclass(frozen=True)
class Memory:
    """What is known of a request's past. All times are ISO texts of the state machine's clock."""

    version: int = VERSION
    fence: str = ""
    """Why this request must touch nothing: a newer one has taken over."""
    contested: bool = False
    """An older request ended before its time, and its last call may still be on its way, or not be shown yet."""
    cluster: str = ""
    """The name that the request works on, once it is not the one that the event gives."""
    arn: str = ""
    """The cluster that was seen alive under that name."""
    failure: str = ""
    """The first FailureMessage of this operation: later ones speak of the rollback."""
    old_failure: str = ""
    """The FailureMessage that stood there before this operation."""
    created_at: str = ""
    updated_at: str = ""
    moved: bool = False
    """The cluster left InService after our UpdateCluster."""
    targets: Mapping[str, int] = field(default_factory=dict)
    """The counts that UpdateCluster asked for, or that a wait saw being worked on."""
    watched: tuple[str, ...] = ()
    """Groups whose nodes the request made, and waits for."""
    trouble: str = ""
    trouble_since: str = ""
    doubt: str = ""
    """A bad sign that may be a stale answer, and since when it is seen (doubt.py)."""
    doubt_since: str = ""
    leftover: str = ""
    """The unreported cluster of a replacement that died, while it is cleared away."""
    rest: Json = field(default_factory=dict)

    @classmethod
    def load(cls, raw: Mapping[str, Any]) -> "Memory":
        """The memory in ``raw``."""
        names = {item.name for item in fields(cls)} - {"rest"}
        known = {name: value for name, value in raw.items() if name in names}
        if "watched" in known:
            known["watched"] = tuple(known["watched"])
        return cls(**known, rest={name: value for name, value in raw.items() if name not in names})

    def dump(self) -> Json:
        """The memory as the execution's state holds it: only what says something."""
        said = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "rest"}
        defaults = {item.name: _default(item) for item in fields(self)}
        kept = {name: value for name, value in said.items() if value != defaults[name] or name == "version"}
        if "watched" in kept:
            kept["watched"] = list(kept["watched"])
        return {**self.rest, **kept}


def _default(item: Any) -> Any:
    """A dataclass field's default (a field has no type that tells it)."""
    return item.default_factory() if item.default is MISSING else item.default
