"""What the agent remembers from run to run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object
from hyperpod_node.managed_file import put
from hyperpod_node.slurm.daemon import STARTED_WITH

if TYPE_CHECKING:
    from hyperpod_node.system import System

FILE = STARTED_WITH / "follow.json"


@dataclass
class Memory:
    """The bundle in use, the last attempt that did not succeed, and the last report; times are seconds since 1970."""

    sha256: str = ""  # empty after an attempt that failed
    generation: int = 0
    bucket: str = ""  # of the first pointer that this node followed
    public_key: str = ""  # of the first pointer with a key that this node applied and that had reached all nodes for hours
    polled_s: float = 0
    refused: str = ""  # the hash of the pointer that the last attempt refused or failed to apply
    attempts: int = 0  # with this pointer
    attempted_s: float = 0
    outage_s: float = 0  # since then AWS cannot be reached for the bundle; 0: it can
    reported: str = ""  # the last state, without numbers that always change
    runs_since_report: int = 0
    unsent: list[str] = field(default_factory=list)  # reports that could not be sent

    @classmethod
    def load(cls, system: System) -> Memory:
        """Return what the last run saved; an unreadable file counts as none."""
        file = system.path(FILE)
        if not file.exists():
            return cls()
        try:
            content = load_object(file)
        except NodeError as error:
            print(f"warning: {error}; the agent starts without a memory")
            return cls()
        known = cls()
        return cls(**{name: content.get(name, value) for name, value in asdict(known).items()})

    def save(self, system: System) -> None:
        """Save it for the next run."""
        put(system.path(FILE), json.dumps(asdict(self), indent=1) + "\n", mode=0o600)
