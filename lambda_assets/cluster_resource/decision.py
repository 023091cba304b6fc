"""Runs in Lambda. What one step tells the next; it lives in the execution's state and ends with it.

A rollback of the stack can bring older code before newer memory: fields that this release does not know are handed on untouched.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from cluster_resource.event import Json

VERSION = 1
LISTS = ("awaited", "leftovers")
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Memory(NamedTuple):
    """What is known of a request's past. All times are ISO texts of the state machine's clock."""

    version: int = VERSION
    fence: str = ""
    """Why this request must touch nothing: a newer one has taken over."""
    contested: bool | None = None
    """Whether a call of an older request could still take effect when this one looked; None until it could look."""
    reclaimed: bool = False
    """An Update goes back to a cluster whose deletion had failed: the properties before are not that cluster's."""
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
    update_seen: bool = False
    """The cluster left InService after our UpdateCluster."""
    targets: Mapping[str, int] = NOTHING
    """The counts that UpdateCluster asked for, or that a wait saw being worked on."""
    rolled_back: bool = False
    """A wait saw the service undo what it waits for; the counts that had been asked for may be gone by then."""
    awaited: tuple[str, ...] = ()
    """Groups whose nodes the request made, and waits for."""
    last_error: str = ""
    last_error_since: str = ""
    suspicion: str = ""
    """A bad sign that may be a stale answer, and since when it is seen (doubt.py)."""
    suspicion_since: str = ""
    leftover: str = ""
    """The unreported cluster of a replacement that died, while it is cleared away."""
    leftovers: tuple[str, ...] = ()
    """More of them, to be cleared away after."""
    name_checked: bool = False
    """The update looks first whether the cluster is still there that had the name which the properties give."""
    rest: Mapping[str, Any] = NOTHING

    @classmethod
    def load(cls, raw: Mapping[str, Any]) -> "Memory":
        """The memory in ``raw``."""
        names = set(cls._fields) - {"rest"}
        known = {name: value for name, value in raw.items() if name in names}
        known.update({name: tuple(known[name]) for name in LISTS if name in known})
        return cls(**known, rest={name: value for name, value in raw.items() if name not in names})

    def dump(self) -> Json:
        """The memory as the execution's state holds it: only what says something."""
        said = self._asdict()
        del said["rest"]
        kept = {name: value for name, value in said.items() if value != self._field_defaults[name] or name == "version"}
        kept.update({name: list(kept[name]) for name in LISTS if name in kept})
        return {**self.rest, **kept}


class Call(NamedTuple):
    """Make one call that changes something; ``then`` is the memory once it was accepted."""

    operation: str
    arguments: Json
    then: Memory
    note: str = ""


class Wait(NamedTuple):
    """Look again at the next step."""

    note: str


class Succeed(NamedTuple):
    """Answer SUCCESS."""

    note: str = ""
    data: Json | None = None


class Fail(NamedTuple):
    """Answer FAILED; with ``of_nodes`` the cluster's nodes may be why, and their logs tell more.

    With ``apart`` the answer names no cluster, so that the Delete of a rollback finds none.
    """

    reason: str
    diagnose: bool = False
    without_cluster: bool = False


Action = Call | Wait | Succeed | Fail


class Decision(NamedTuple):
    """The one thing to do, and what to remember."""

    action: Action
    memory: Memory


def attributes_of(memory: Memory, name: str) -> Json:
    """What the resource's attributes are."""
    return {"ClusterArn": memory.arn, "ClusterName": name, "ClusterId": memory.arn.rsplit("/", 1)[-1]}
