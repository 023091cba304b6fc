"""Runs in Lambda. What a decision can be: one call, waiting, or the end.

Values are NamedTuples throughout: making a dataclass takes six times as long, at every cold start.
"""

from typing import NamedTuple

from cluster_resource.event import Json
from cluster_resource.memory import Memory


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
    of_nodes: bool = False
    apart: bool = False


Action = Call | Wait | Succeed | Fail


class Decision(NamedTuple):
    """The one thing to do, and what to remember."""

    action: Action
    memory: Memory
