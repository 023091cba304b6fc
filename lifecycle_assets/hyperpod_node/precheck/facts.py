"""The facts about this node that the lifecycle scripts save for the checks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object, required
from hyperpod_node.managed_file import put
from hyperpod_node.system import CODE

FILE = CODE / "node.json"
VERSION = 1


@dataclass(frozen=True)
class Facts:
    """The role and the expected configuration of this node."""

    node: str
    role: str
    instance_type: str
    gpus: int
    file_system: bool  # FSx for Lustre at /fsx
    homes: str | None  # the shared folder of home directories; None: homes are local
    users: tuple[str, ...]  # whose homes belong there

    @classmethod
    def load(cls, path: Path = FILE) -> Facts:
        """Return the facts that ``save`` wrote."""
        try:
            content = load_object(path)
        except NodeError as error:
            raise NodeError(f"{error}; the lifecycle scripts write it: run hyperpod-precheck on a node of the cluster") from None
        if required(content, "version", path) != VERSION:
            raise NodeError(f"{path} has version {content['version']!r}; this program reads version {VERSION}")
        known = {name: required(content, name, path) for name in cls.__annotations__}
        return cls(**{**known, "users": tuple(known["users"])})

    def save(self, path: Path = FILE) -> None:
        """Write the facts to a file that every user can read."""
        put(path, json.dumps({"version": VERSION, **asdict(self)}, indent=2) + "\n")
