"""Define the decisions of a step, and the memory that it passes to the next step: NamedTuples, for a fast cold start."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from cluster_resource.event import Json

VERSION = 1
MAX_TEXT = 1000
CUT = "... (cut)"
LISTS = ("awaited", "leftovers")
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Memory(NamedTuple):
    """What earlier steps of a request found out; times are ISO texts of the state machine's clock.

    Unknown fields are passed on: a rollback of the stack can give newer memory to older code.
    """

    version: int = VERSION
    fence: str = ""
    """Why this request must change nothing: a newer one replaced it."""
    contested: bool | None = None
    """Whether a call of an older request can still take effect; None until this is known."""
    reclaimed: bool = False
    """An Update returns to a cluster whose deletion failed: the old properties are not those of that cluster."""
    cluster: str = ""
    """The cluster's name, if it is not the one in the event."""
    arn: str = ""
    """The ARN of the cluster that was seen alive under that name."""
    failure: str = ""
    """The first FailureMessage of this operation: later ones are about the rollback."""
    old_failure: str = ""
    """The FailureMessage from before this operation."""
    created_at: str = ""
    updated_at: str = ""
    update_seen: bool = False
    """The cluster left InService after our UpdateCluster."""
    rejected: str = ""
    """Why the service rejected an UpdateCluster that this request can do without."""
    targets: Mapping[str, int] = NOTHING
    """The instance counts that UpdateCluster set, or that a wait saw in progress."""
    rolled_back: bool = False
    """A wait saw the service roll back an update; its counts may no longer be visible."""
    awaited: tuple[str, ...] = ()
    """Groups whose new nodes this request waits for."""
    last_error: str = ""
    last_error_since: str = ""
    suspicion: str = ""
    """A bad sign that may come from a stale reply (deadline.py)."""
    suspicion_since: str = ""
    leftover: str = ""
    """The cluster of a failed replacement that is being deleted."""
    leftovers: tuple[str, ...] = ()
    """More such clusters to delete."""
    missing_nodes: str = ""
    """The groups that run with fewer nodes than requested, as text."""
    undo: bool = False
    """A rollout returns to the bundle before the last request."""
    at_once: bool = False
    """A new rollout reaches all nodes at once, because none reports that it runs another bundle."""
    generation: int = 0
    """The pointer's generation when this rollout began."""
    wave: int = 0
    wave_since: str = ""
    compute_percent: int = 0
    """The part of the compute nodes that the rollout reaches first."""
    name_checked: bool = False
    """The Update has checked whether the cluster with the name from the properties still exists."""
    rest: Mapping[str, Any] = NOTHING

    @classmethod
    def load(cls, raw: Mapping[str, Any]) -> "Memory":
        """Return the memory in ``raw``."""
        names = set(cls._fields) - {"rest"}
        known = {name: value for name, value in raw.items() if name in names}
        known.update({name: tuple(known[name]) for name in LISTS if name in known})
        return cls(**known, rest={name: value for name, value in raw.items() if name not in names})

    def dump(self) -> Json:
        """Return the memory as JSON, without default values."""
        fields = self._replace(rest=NOTHING)._asdict()
        kept = {name: value for name, value in fields.items() if value != self._field_defaults[name] or name == "version"}
        return {**self.rest, **kept}


class Call(NamedTuple):
    """Make one call that changes something; ``then`` is the memory after it was accepted."""

    operation: str
    arguments: Json
    then: Memory
    note: str = ""
    is_optional: bool = False
    """The request continues if the service rejects the call as invalid."""


class Wait(NamedTuple):
    """Check again at the next step."""

    note: str


class Succeed(NamedTuple):
    """Respond SUCCESS."""

    note: str = ""
    data: Json | None = None


class Fail(NamedTuple):
    """Respond FAILED; with ``diagnose``, add the logs and events of the nodes. ``is_late``: only the deadline ended it.

    With ``without_cluster`` the response names no cluster, so that the Delete of a rollback deletes none.
    """

    reason: str
    diagnose: bool = False
    without_cluster: bool = False
    is_late: bool = False


Action = Call | Wait | Succeed | Fail


class Decision(NamedTuple):
    """The next action, and the memory for the next step."""

    action: Action
    memory: Memory


def attributes_of(memory: Memory, name: str) -> Json:
    """Return the resource's attributes."""
    ids = {"ClusterArn": memory.arn, "ClusterName": name, "ClusterId": memory.arn.rsplit("/", 1)[-1]}
    return {**ids, **missing_nodes_attribute(memory.missing_nodes)}


def missing_nodes_attribute(text: str) -> Json:
    """Return the attribute with the groups that lack nodes."""
    return {"MissingNodes": cut(text) or "none"}


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """Return the text with at most ``limit`` bytes of JSON, cut between characters."""
    end = next(length for length in range(min(len(text), limit), -1, -1) if json_size(text[:length]) <= limit)
    return text if end == len(text) else f"{text[:end]}{CUT}"


def json_size(text: str) -> int:
    """Return the number of bytes that a text has as JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))
