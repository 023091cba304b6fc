"""Read what the nodes' agents report about their scripts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from cluster_resource.event import Json
from cluster_resource.observed import Node
from cluster_resource.pointer import COMPUTE, Pointer, Reach

APPLIED = "applied"
LENGTHS = {"node": 63, "sha256": 64, "result": 63, "step": 100, "message": 400}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


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


def own_records(events: Iterable[Json], since_ms: int) -> Iterator[tuple[int, Json]]:
    """Yield the records that nodes wrote about themselves, with their times in milliseconds.

    Any node can write any text and time to any log stream. So a record counts only in its instance's stream, and as of
    its ingestion at the latest.
    """
    for event in events:
        time, (group, _, instance) = min(event["timestamp"], event["ingestionTime"]), event["logStreamName"].rpartition("/")
        try:
            record: Any = json.loads(event["message"])
        except (ValueError, RecursionError):
            continue
        if time >= since_ms and isinstance(record, dict) and instance and record.get("instance") == instance:
            yield time, {**record, "group": group}


def fleet_of(
    nodes: Iterable[Node], events: Iterable[Json], roles: Mapping[str, str], since_ms: int = 0, pointer: Pointer | None = None
) -> Fleet:
    """Return the running nodes with their newest reports, of attempts those for the latest pointer.

    ``events`` are CloudWatch's, in any order. No attempt is for a later pointer than ``pointer``.
    """
    running = {
        node.id: FollowingNode(node.id, node.group, roles.get(node.group, COMPUTE)) for node in nodes if node.status == "Running"
    }
    latest = pointer.generation if pointer else inf
    newest: dict[tuple[str, str], tuple[tuple[float, int], Json]] = {}
    for time, content in own_records(events, since_ms):
        record = _record(content)
        if record and record["instance"] in running:
            key, age = (record["instance"], record["record"]), (record.get("generation", 0), time)
            if age[0] <= latest and age >= newest.get(key, ((0, 0),))[0]:
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


def _record(record: Json) -> Json | None:
    """Return the fields of a record, cut and printable, or nothing if it is malformed: nodes can write anything."""
    try:
        is_attempt = record["record"] == "bundle"
        texts = {name: str(record.get(name) or "") for name in LENGTHS}
        generation = {"generation": int(record["generation"] or 0)} if is_attempt else {}
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
    texts["node"] = texts["node"] if NAME.fullmatch(texts["node"]) else ""
    cut = {name: "".join(each if each.isprintable() else "?" for each in text[: LENGTHS[name]]) for name, text in texts.items()}
    return {**cut, **generation, "record": "bundle" if is_attempt else "state", "instance": record["instance"]}
