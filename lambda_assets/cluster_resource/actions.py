"""Runs in Lambda. What a decision can be: one call, waiting, or the end."""

from dataclasses import dataclass, field

from cluster_resource.event import Json
from cluster_resource.memory import Memory


@dataclass(frozen=True)
class Call:
    """Make one call that changes something; ``then`` is the memory once it was accepted."""

    operation: str
    arguments: Json
    then: Memory
    note: str = ""


@dataclass(frozen=True)
class Wait:
    """Look again at the next step."""

    note: str


@dataclass(frozen=True)
class Succeed:
    """Answer SUCCESS."""

    note: str = ""
    data: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Fail:
    """Answer FAILED."""

    reason: str


Action = Call | Wait | Succeed | Fail


@dataclass(frozen=True)
class Decision:
    """The one thing to do, and what to remember."""

    action: Action
    memory: Memory
