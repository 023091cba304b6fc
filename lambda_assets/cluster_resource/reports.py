"""Read what the nodes' agents report about their scripts, divide a rollout into waves, and judge the nodes of a wave."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple

from cluster_resource.event import Json
from cluster_resource.observed import Node
from cluster_resource.pointer import COMPUTE, CONTROLLER, FULL, LOGIN, Pointer, Reach, share

APPLIED = "applied"
LENGTHS = {"node": 63, "sha256": 64, "result": 63, "step": 100, "message": 400}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
FIRST_PERCENT = 10
WAVE_S = 600
"""How long the nodes of a wave may take: ten times the interval of the agents."""

MAX_NAMED = 5


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


class Wave(NamedTuple):
    """One wave; each includes those before it."""

    name: str
    roles: tuple[str, ...]
    has_compute: bool = False


WAVES = (
    Wave("controllers", ()),
    Wave("login", (CONTROLLER, LOGIN)),
    Wave("the first compute nodes", (CONTROLLER, LOGIN), has_compute=True),
    Wave("all nodes", (CONTROLLER, LOGIN), has_compute=True),
)
CONTROLLERS, LAST = 0, len(WAVES) - 1


class WaveReport(NamedTuple):
    """The results of the nodes that a pointer reaches."""

    total: int
    failed: tuple[str, ...]
    unfinished: tuple[FollowingNode, ...]
    agentless: tuple[FollowingNode, ...]

    @property
    def applied(self) -> str:
        """Return how many nodes applied the bundle."""
        return f"{self.total - len(self.failed) - len(self.unfinished)} of {self.total} nodes"

    @property
    def waiting(self) -> str:
        """Return the nodes that did not report a result yet, as text."""
        return _named(self.unfinished)

    @property
    def without_agent(self) -> str:
        """Return the nodes that do not report, as text after a result."""
        if not self.agentless:
            return ""
        end = "" if self.total else "; no node reported, so the result is unknown"
        return f"; {len(self.agentless)} without agent: {_named(self.agentless)}{end}"


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


def next_wave(wave: int, fleet: Fleet) -> int:
    """Return the first wave from ``wave`` on that has nodes, or the last."""
    roles = {node.role for node in fleet.nodes if node.has_agent}
    has_nodes = (CONTROLLER in roles, LOGIN in roles, COMPUTE in roles, True)
    return next(index for index in range(min(wave, LAST), len(WAVES)) if has_nodes[index])


def reach_of(wave: int, fleet: Fleet, first_percent: int, controllers: tuple[str, ...]) -> tuple[int, Reach]:
    """Return the percentage of the first compute nodes, which includes at least one node, and the reach of the wave.

    The first wave reaches the ``controllers`` that the pointer names, or the first one.
    """
    if wave == LAST:
        return first_percent, FULL
    if WAVES[wave].has_compute:
        shares = [share(node.instance) for node in fleet.nodes if node.has_agent and node.role == COMPUTE]
        first_percent = max(first_percent, FIRST_PERCENT, min(shares, default=0) + 1)  # nodes can leave after the wave began
    instances = (controllers or next_controllers(fleet, ())) if wave == CONTROLLERS else ()
    return first_percent, Reach(WAVES[wave].roles, first_percent if WAVES[wave].has_compute else 0, instances)


def next_controllers(fleet: Fleet, controllers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the controllers and the next one, or nothing after the last: a bundle must not break two at the same time."""
    found = sorted(node.instance for node in fleet.nodes if node.has_agent and node.role == CONTROLLER)
    left = [instance for instance in found if instance not in controllers]
    return (*controllers, left[0]) if left else ()


def report_of(fleet: Fleet, reach: Reach, sha256: str, generation: int) -> WaveReport:
    """Return the results of the nodes that a pointer reaches."""
    counted = fleet.counted(reach)
    failed = {node.instance: reason for node in counted if (reason := node.failure(sha256, generation))}
    unfinished = [node for node in counted if node.instance not in failed and not node.has_applied(sha256, generation)]
    texts = tuple(f"{node.label}: {failed[node.instance]}" for node in counted if node.instance in failed)
    return WaveReport(len(counted), texts, tuple(unfinished), tuple(fleet.without_agent))


def stop_reason(report: WaveReport, waited_s: float) -> str:
    """Return why the rollout stops, or "" if it continues."""
    if report.failed:
        more = f" and {len(report.failed) - 1} more" if len(report.failed) > 1 else ""
        return f"{report.failed[0]}{more}"
    if report.unfinished and waited_s >= WAVE_S:
        return f"no result after {WAVE_S // 60} minutes from {report.waiting}"
    return ""


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


def _named(nodes: tuple[FollowingNode, ...]) -> str:
    labels = [node.label for node in nodes]
    more = [f"{len(labels) - MAX_NAMED} more"] if len(labels) > MAX_NAMED else []
    return ", ".join([*labels[:MAX_NAMED], *more])
