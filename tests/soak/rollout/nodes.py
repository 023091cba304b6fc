"""Running nodes whose agents follow the pointer as lifecycle_assets/hyperpod_node/follow does."""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cluster_resource.pointer import Pointer
from tests.soak.timeline import Timeline

Json = dict[str, Any]
POLL_S = 60
STATE_S = 290
FIRST_RETRY_S = 300
LONGEST_RETRY_S = 3600
MOST_UNSENT = 20
ROLES = {"controller": "controller", "login": "login"}


@dataclass
class Attempt:
    """A failed or refused attempt to apply a pointer."""

    text: str
    at: datetime
    count: int


@dataclass
class AgentNode:
    """A running node."""

    instance: str
    group: str
    sha256: str
    joined: datetime
    generation: int = 0
    is_silent: bool = False
    """Its agent does not run."""
    is_gone: bool = False
    apply_s: float = 5
    broken: set[str] = field(default_factory=set)
    """The bundles that it cannot apply."""
    healthy_since: datetime | None = None
    """Since when its agent runs without a break."""
    failures: list[tuple[str, int, datetime]] = field(default_factory=list)
    """The bundle, generation and time of failed attempts whose records are in the log group."""
    is_busy: bool = False
    attempt: Attempt | None = None
    reported: Json | None = None
    reported_at: datetime | None = None
    unsent: list[Json] = field(default_factory=list)

    @property
    def role(self) -> str:
        return ROLES.get(self.group, "compute")


class Nodes:
    """The nodes of the cluster; ``read`` returns the parameter's value and ``log`` takes records, if the log group exists."""

    def __init__(self, timeline: Timeline, read: Callable[[], str | None], log: Callable[[AgentNode, list[Json]], bool]) -> None:
        self._timeline = timeline
        self._read = read
        self._log = log
        self._numbers = itertools.count(1)
        self.all: list[AgentNode] = []

    @property
    def living(self) -> list[AgentNode]:
        """Return the nodes that run."""
        return [node for node in self.all if not node.is_gone]

    def join(self, group: str, sha256: str) -> AgentNode:
        """Start a node with a bundle; its lifecycle script reports it."""
        number = next(self._numbers)
        now = self._timeline.clock.now
        node = AgentNode(f"i-{number:017x}", group, sha256, now, healthy_since=now)
        self.all.append(node)
        self._add(node, "bundle", result="applied", sha256=sha256, generation=0)
        self._timeline.after(7 * number % POLL_S, lambda: self._poll(node))
        return node

    def _poll(self, node: AgentNode) -> None:
        if node.is_gone:
            return
        self._timeline.after(POLL_S, lambda: self._poll(node))
        if node.is_silent or node.is_busy:
            return
        text = self._read()
        if text is not None:
            self._follow(node, text)
        if not node.is_busy:
            self._report_state(node)

    def _follow(self, node: AgentNode, text: str) -> None:
        pointer = Pointer.parse(text)
        if pointer is None:
            return
        target = pointer.bundle.sha256
        is_older = pointer.generation < node.generation or (pointer.generation == node.generation and target != node.sha256)
        if is_older:
            if not self._waits(node, text):
                self._failed(node, text, pointer, "refused")
        elif target == node.sha256:
            node.generation = pointer.generation
        elif pointer.reach.includes(node.role, node.instance) and not self._waits(node, text):
            node.is_busy = True
            self._timeline.after(node.apply_s, lambda: self._apply(node, text, pointer))

    def _waits(self, node: AgentNode, text: str) -> bool:
        attempt = node.attempt
        if attempt is None or attempt.text != text:
            return False
        pause = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** (attempt.count - 1))
        return (self._timeline.clock.now - attempt.at).total_seconds() < pause

    def _apply(self, node: AgentNode, text: str, pointer: Pointer) -> None:
        node.is_busy = False
        if node.is_gone or node.is_silent:
            return
        if pointer.bundle.sha256 in node.broken:
            node.sha256 = ""
            self._failed(node, text, pointer, "failed")
        else:
            node.sha256, node.generation, node.attempt = pointer.bundle.sha256, pointer.generation, None
            self._add(node, "bundle", result="applied", sha256=node.sha256, generation=node.generation)
        self._report_state(node)

    def _failed(self, node: AgentNode, text: str, pointer: Pointer, result: str) -> None:
        count = node.attempt.count + 1 if node.attempt and node.attempt.text == text else 1
        node.attempt = Attempt(text, self._timeline.clock.now, count)
        self._add(node, "bundle", result=result, sha256=pointer.bundle.sha256, generation=pointer.generation, step="users")

    def _report_state(self, node: AgentNode) -> None:
        now = self._timeline.clock.now
        state = {"sha256": node.sha256, "generation": node.generation}
        if state != node.reported or node.reported_at is None or (now - node.reported_at).total_seconds() >= STATE_S:
            node.reported, node.reported_at = state, now
            self._add(node, "state", **state)
        elif node.unsent:
            self._send(node)

    def _add(self, node: AgentNode, record: str, **more: Any) -> None:
        written = {"version": 1, "record": record, "instance": node.instance, "node": f"{node.group}-{node.instance[-1]}", **more}
        timestamp = int(self._timeline.clock.now.timestamp() * 1000)
        node.unsent.append({"timestamp": timestamp, "message": json.dumps(written)})
        self._send(node)

    def _send(self, node: AgentNode) -> None:
        node.unsent = [] if self._log(node, node.unsent) else node.unsent[-MOST_UNSENT:]
