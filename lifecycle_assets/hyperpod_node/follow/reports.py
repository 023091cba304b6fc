"""The reports of a node: lines of JSON in the cluster's log group."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.follow.aws import Aws
    from hyperpod_node.system import System

VERSION, AGENT = 1, "1"
APPLIED, FAILED, REFUSED = "applied", "failed", "refused"
MOST_CHARACTERS = 1000


@dataclass(frozen=True)
class Outcome:
    """The result of an attempt to apply a bundle; ``step`` is the title of the step that failed."""

    result: str
    sha256: str
    generation: int
    step: str | None = None
    message: str = ""


@dataclass
class Reports:
    """The reports of one run, which are sent together."""

    context: Context
    system: System
    lines: list[str] = field(default_factory=list)

    def add_outcome(self, outcome: Outcome) -> None:
        """Report an attempt to apply a bundle."""
        more = {"result": outcome.result, "step": outcome.step, "message": outcome.message[:MOST_CHARACTERS]}
        self.add("bundle", {"sha256": outcome.sha256, "generation": outcome.generation} | more)

    def add(self, record: str, content: dict[str, Any]) -> None:
        """Add a record of this node."""
        self.lines.append(json.dumps({"version": VERSION, "record": record, "agent": AGENT} | self._node() | content))

    def send(self, aws: Aws) -> None:
        """Write all records to the node's log stream."""
        follow = self.context.settings.follow
        if self.lines and follow:
            node = self._node()
            aws.put_log_events(follow.log_group, f"{node['group']}/{node['instance']}", self.lines)
            self.lines = []

    @property
    def _cluster(self) -> str:
        """Return the name of the cluster file, which the log group has; HyperPod's name of the cluster may differ."""
        follow = self.context.settings.follow
        return (
            follow.log_group.removeprefix("/hyperpod-cdk/").removesuffix("/nodes")
            if follow
            else self.context.cluster.cluster_name
        )

    def _node(self) -> dict[str, str]:
        node = self.context.node
        return {
            "cluster": self._cluster,
            "instance": node.instance_id,
            "node": node.name,
            "group": node.group,
            "role": self.context.role,
            "host": self.system.host,
            "address": node.address,
        }
