"""The nodes of a cluster, by the API's state, by Slurm's and by their agents' reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from cli.counted import first_of
from cli.node_directory import node_names
from cli.node_reports import FRESH, Report, age
from cli.result import Block, Json, Table
from config.instance_group import Role

UNKNOWN, NONE, OK, INCOMPLETE = "unknown", "none", "ok", "incomplete"
JOINING = "joining"
"""A node that slurmd has not registered yet."""

APPLIED, ROOT, LOW = "applied", "/", 10.0
SHORT = 8
"""Characters of a bundle's hash that are shown."""
LARGE = 30
"""Nodes up to which all of them are listed."""
MOST_LISTED = 8
"""Nodes with the same reason that are listed."""


@dataclass(frozen=True)
class ListedNode:
    """A node in the answer of ListClusterNodes."""

    summary: Mapping[str, Any]

    @property
    def instance(self) -> str:
        """Return the instance id."""
        return str(self.summary["InstanceId"])

    @property
    def group(self) -> str:
        """Return the instance group."""
        return str(self.summary["InstanceGroupName"])

    @property
    def status(self) -> str:
        """Return the API's state."""
        return str(self.summary["InstanceStatus"]["Status"])

    @property
    def message(self) -> str:
        """Return the API's message; empty if there is none."""
        return str(self.summary["InstanceStatus"].get("Message") or "")

    @property
    def has_problem(self) -> bool:
        """Return whether a person should look at the node."""
        is_outdated = self.summary.get("ImageVersionStatus") in ("SecurityUpdateRequired", "EndOfLife")
        return self.status != "Running" or bool(self.message) or is_outdated

    def data(self) -> Json:
        """Return the node for JSON, with null for what only one of the schedulers knows."""
        return {
            **node_names(self.instance, "", "", self.group),
            **dict.fromkeys(("role", "slurm_state", "slurm_reason", "agent", "bundle_sha256", "reported", "kubernetes")),
            "status": self.status,
            "message": self.message or None,
            "image_release": self.summary.get("CurrentImageReleaseVersion"),
            "image_status": self.summary.get("ImageVersionStatus"),
            "has_older_bundle": False,
        }


Shown = TypeVar("Shown", bound=ListedNode)


@dataclass(frozen=True)
class NodeStatus(ListedNode):
    """A node with its agent's and its controller's latest report."""

    role: str
    report: Report | None
    slurm: Report | None
    bundle: str
    """The hash of the desired bundle; empty if unknown."""
    attempt: Report | None = None
    """The latest attempt to apply a bundle, of nodes whose bundle differs."""
    low_disk_percent: float = LOW
    """Free space of the root volume below which a node has a problem."""

    @property
    def host(self) -> str:
        """Return Slurm's name of the node; empty if unknown."""
        return str(self.summary.get("PrivateDnsHostname") or self._of_report("host")).partition(".")[0]

    @property
    def name(self) -> str:
        """Return HyperPod's name of the node, which only its agent reports; empty if unknown."""
        return self._of_report("node")

    @property
    def slurm_state(self) -> str:
        """Return Slurm's state of a compute node: `ok`, the problem's state, or `unknown`; empty on other nodes."""
        if self.role != Role.COMPUTE:
            return ""
        if self.slurm is None or not self.host:
            return UNKNOWN
        is_ok = self.status == "Running" and self.slurm.lists_all_problems
        return str(self._slurm_problem.get("state") or (OK if is_ok else UNKNOWN))

    @property
    def slurm_reason(self) -> str:
        """Return the reason of Slurm's state; empty if there is none."""
        return str(self._slurm_problem.get("reason") or "")

    @property
    def agent(self) -> str:
        """Return the agent's version; `none` without a recent report."""
        return self._of_report("agent") or NONE

    @property
    def applied(self) -> str:
        """Return the hash of the bundle on the node; empty if unknown."""
        return self._of_report("sha256")

    @property
    def has_older_bundle(self) -> bool:
        """Return whether the node reports and has not applied the desired bundle."""
        return bool(self.bundle and self.report and self.applied != self.bundle)

    @property
    def low_disk(self) -> str:
        """Return the free space of a root volume that is almost full; empty for others, and for file systems of all nodes."""
        low = dict(self.report.low_disks(self.low_disk_percent)) if self.report else {}
        return f"{low[ROOT]:g} % free on {ROOT}" if ROOT in low else ""

    @property
    def warning(self) -> str:
        """Return what the agent warns of; empty if nothing."""
        return self._of_report("warning")

    @property
    def failed_attempt(self) -> str:
        """Return why the node could not apply the desired bundle; empty if it did not try."""
        if not self.has_older_bundle or self.attempt is None or self.attempt.text("result") == APPLIED:
            return ""
        texts = (self.attempt.text("step"), self.attempt.text("message"))
        return ": ".join([f"bundle {self.attempt.text('result')}", *filter(None, texts)])

    @property
    def has_problem(self) -> bool:
        """Return whether a person should look at the node."""
        is_left_out = self.slurm is not None and self.slurm.slurm_problems is not None and not self.slurm.lists_all_problems
        good = ("", OK, JOINING) if is_left_out else ("", OK, JOINING, UNKNOWN)
        return super().has_problem or self.slurm_state not in good or self.has_older_bundle or bool(self.low_disk or self.warning)

    def data(self) -> Json:
        """Return the node for JSON."""
        return {
            **super().data(),
            **node_names(self.instance, self.name, self.host, self.group),
            "role": self.role or None,
            "slurm_state": self.slurm_state or None,
            "slurm_reason": self.slurm_reason or None,
            "agent": None if self.agent == NONE else self.agent,
            "bundle_sha256": self.applied or None,
            "has_older_bundle": self.has_older_bundle,
            "reported": self.report.time.isoformat() if self.report else None,
        }

    def _of_report(self, name: str) -> str:
        return self.report.text(name) if self.report else ""

    @property
    def _slurm_problem(self) -> Mapping[str, Any]:
        problems = (self.slurm.slurm_problems or ()) if self.slurm else ()
        found: Mapping[str, Any] = next((each for each in problems if each.get("host") == self.host), {})
        return found


def nodes_table(nodes: Sequence[NodeStatus], now: datetime, *, show_all: bool) -> list[Block]:
    """Return the table of nodes with Slurm."""
    head = ("NODE", "NAME", "STATUS", "SLURM", "AGENT", "BUNDLE")
    return table_of(nodes, head, lambda node: _row(node, now), _notes, show_all=show_all)


def table_of(
    nodes: Sequence[Shown],
    head: Sequence[str],
    row: Callable[[Shown], tuple[str, ...]],
    notes: Callable[[Sequence[Shown]], list[str]],
    *,
    show_all: bool,
) -> list[Block]:
    """Return the table of nodes; of a large cluster only nodes with a problem, and how many have none."""
    shown = [node for node in nodes if show_all or len(nodes) <= LARGE or node.has_problem]
    blocks: list[Block] = []
    if shown:
        blocks.append(Table(head, [row(node) for node in shown]))
        blocks += ["\n".join(lines)] if (lines := notes(shown)) else []
    if len(shown) < len(nodes):
        blocks.append(f"{len(nodes) - len(shown)} more nodes have no known problem; `--all` lists them")
    return blocks


def _row(node: NodeStatus, now: datetime) -> tuple[str, ...]:
    older = " (older)" if node.has_older_bundle else ""
    late = f" ({age(node.report.time, now)} ago)" if node.report and now - node.report.time > 2 * FRESH else ""
    return (
        node.instance,
        node.name or node.group,
        node.status,
        node.slurm_state or "-",
        f"{node.agent}{late}",
        f"{node.applied[:SHORT]}{older}" if node.applied else (INCOMPLETE if node.has_older_bundle else "-"),
    )


def _notes(nodes: Sequence[NodeStatus]) -> list[str]:
    """Return each reason of problems once, on its own line with its nodes, because tables stay narrow."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        slurm = f"Slurm: {node.slurm_state}: {node.slurm_reason}" if node.slurm_reason else ""
        for reason in filter(None, (node.message, slurm, node.failed_attempt, node.low_disk, node.warning)):
            found.setdefault(reason, []).append(node.instance)
    return [f"{first_of(instances, MOST_LISTED)}: {reason}" for reason, instances in found.items()]
