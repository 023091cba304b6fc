"""Read what the nodes' agents report about their scripts."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cluster_resource.event import Json
from cluster_resource.observed import Node
from cluster_resource.pointer import COMPUTE, Reach

APPLIED = "applied"
MAX_NAME, MAX_STEP, MAX_MESSAGE = 63, 100, 400
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")


class FollowingNode(NamedTuple):
    """One running node; without an agent it reported nothing."""

    instance: str
    group: str
    role: str
    name: str = ""
    has_agent: bool = False
    attempt: Json | None = None
    """Its record of the latest attempt to apply a bundle."""
    sha256: str = ""
    """The bundle that it runs, by its newest record."""

    @property
    def label(self) -> str:
        """Return the node as messages name it."""
        return f"{self.name} ({self.instance})" if self.name else f"{self.instance} ({self.group})"

    def has_applied(self, sha256: str, generation: int) -> bool:
        """Return whether it runs the bundle."""
        attempt = self._attempted(sha256, generation)
        return attempt["result"] == APPLIED if attempt else self.sha256 == sha256

    def failure(self, sha256: str, generation: int) -> str:
        """Return why it could not apply the bundle, or "" without a failed attempt since ``generation``."""
        attempt = self._attempted(sha256, generation)
        if not attempt or attempt["result"] == APPLIED:
            return ""
        step, message = attempt["step"], attempt["message"]
        return ": ".join(part for part in (f"step '{step}'" if step else attempt["result"], message) if part)

    def _attempted(self, sha256: str, generation: int) -> Json | None:
        attempt = self.attempt
        return attempt if attempt and attempt["sha256"] == sha256 and attempt["generation"] >= generation else None


class Fleet(NamedTuple):
    """The running nodes of a cluster."""

    nodes: tuple[FollowingNode, ...]

    def counted(self, reach: Reach) -> list[FollowingNode]:
        """Return the nodes with an agent that a pointer reaches."""
        return [node for node in self.nodes if node.has_agent and reach.includes(node.role, node.instance)]

    def runs_other(self, sha256: str) -> bool:
        """Return whether a node reports that it runs another bundle, or none completely."""
        return any(node.has_agent and node.sha256 != sha256 for node in self.nodes)

    @property
    def without_agent(self) -> list[FollowingNode]:
        """Return the nodes that reported nothing."""
        return [node for node in self.nodes if not node.has_agent]


def fleet_of(nodes: Iterable[Node], events: Iterable[tuple[int, str]], roles: Mapping[str, str]) -> Fleet:
    """Return the running nodes with their newest reports, of attempts those for the latest pointer.

    ``events`` are times and messages in any order.
    """
    running = {
        node.id: FollowingNode(node.id, node.group, roles.get(node.group, COMPUTE)) for node in nodes if node.status == "Running"
    }
    newest: dict[tuple[str, str], tuple[tuple[int, int], Json]] = {}
    for timestamp, message in events:
        record = _record(message)
        if record and record["instance"] in running:
            key = record["instance"], record["record"]
            age = record.get("generation", 0), timestamp
            if age >= newest.get(key, ((0, 0),))[0]:
                newest.pop(key, None)  # of equal ages, the last read counts
                newest[key] = age, record
    for _, record in sorted(newest.values(), key=lambda each: each[0][1]):
        running[record["instance"]] = _with_record(running[record["instance"]], record)
    return Fleet(tuple(running.values()))


def _with_record(node: FollowingNode, record: Json) -> FollowingNode:
    node = node._replace(has_agent=True, name=record["node"])
    if record["record"] != "bundle":
        return node._replace(sha256=record["sha256"])
    # A failed attempt can leave parts of a bundle.
    return node._replace(attempt=record, sha256=record["sha256"] if record["result"] == APPLIED else "")


def _record(message: str) -> Json | None:
    """Return the record in a line of a log stream, or nothing if it is malformed: nodes can write anything."""
    try:
        record: Any = json.loads(message)
        instance, sha256 = record["instance"], str(record.get("sha256") or "")
        if not isinstance(instance, str):
            return None
        known = {"record": "state", "instance": instance, "node": _name(record.get("node")), "sha256": sha256}
        return {**known, **_attempt(record)} if record["record"] == "bundle" else known
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
        return None


def _attempt(record: Mapping[str, Any]) -> Json:
    """Return the fields of an attempt to apply a bundle, cut and printable."""
    texts = {"result": MAX_NAME, "step": MAX_STEP, "message": MAX_MESSAGE}
    cut = {name: _printable(str(record.get(name) or ""))[:length] for name, length in texts.items()}
    return {"record": "bundle", "generation": int(record["generation"] or 0), **cut, "sha256": str(record["sha256"])}


def _name(value: object) -> str:
    """Return the name of a node, or "" if it is malformed."""
    return value if isinstance(value, str) and NAME.fullmatch(value) else ""


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
