"""Divide a rollout into waves, and judge the nodes of a wave by their reports."""

from typing import NamedTuple

from cluster_resource.pointer import COMPUTE, CONTROLLER, FULL, LOGIN, ROLES, Reach, share
from cluster_resource.reports import Fleet, FollowingNode

FIRST_PERCENT = 10
WAVE_S = 600
"""How long the nodes of a wave may take: ten times the interval of the agents."""

MAX_NAMED = 5


class Wave(NamedTuple):
    """One wave; each includes those before it."""

    name: str
    roles: tuple[str, ...] = ROLES
    has_compute: bool = False


WAVES = (
    Wave("controllers", ()),
    Wave("login"),
    Wave("the first compute nodes", has_compute=True),
    Wave("all nodes", has_compute=True),
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
    failed = {node.instance: f"{node.label}: {why}" for node in counted if (why := node.failure(sha256, generation))}
    unfinished = [node for node in counted if node.instance not in failed and not node.has_applied(sha256, generation)]
    return WaveReport(len(counted), tuple(failed.values()), tuple(unfinished), tuple(fleet.without_agent))


def stop_reason(report: WaveReport, waited_s: float) -> str:
    """Return why the rollout stops, or "" if it continues."""
    if report.failed:
        return report.failed[0] + (f" and {len(report.failed) - 1} more" if len(report.failed) > 1 else "")
    if report.unfinished and waited_s >= WAVE_S:
        return f"no result after {WAVE_S // 60} minutes from {report.waiting}"
    return ""


def _named(nodes: tuple[FollowingNode, ...]) -> str:
    labels = [node.label for node in nodes]
    more = [f"{len(labels) - MAX_NAMED} more"] if len(labels) > MAX_NAMED else []
    return ", ".join([*labels[:MAX_NAMED], *more])
