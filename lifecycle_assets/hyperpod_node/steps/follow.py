"""Install the agent that follows the cluster file on a running node. Its failure never fails the node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, unexpected
from hyperpod_node.follow import bundle, service
from hyperpod_node.follow.aws import Aws
from hyperpod_node.follow.memory import Memory
from hyperpod_node.follow.reports import APPLIED, Outcome, Reports

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

SCRIPTS = Path(__file__).parents[2]
NOT_FOLLOWING = "this node does not follow the cluster file"
NOT_REPORTING = "this node does not report to the cluster yet"


def keep(context: Context, system: System) -> bool:
    """Copy the scripts to a permanent folder: a reboot empties /tmp, where HyperPod downloads them."""
    return context.settings.follow is not None and _tried(NOT_FOLLOWING, lambda: bundle.keep_started(SCRIPTS, system))


def apply(context: Context, system: System, aws: Aws | None = None) -> bool:
    """Start the agent with these scripts, and report them as applied."""
    if context.settings.follow is None:
        return service.remove(system)
    is_started = _tried(NOT_FOLLOWING, lambda: _start(context, system))
    return is_started and _tried(NOT_REPORTING, lambda: _report(context, system, aws or Aws(attempts=1)))


def apply_live(context: Context, system: System) -> bool:
    """Update the agent's units on a running node; the agent itself switches to the new scripts afterwards."""
    if context.settings.follow is None:
        return service.remove(system)
    service.install(context.cluster.path, system)
    return True


def _start(context: Context, system: System) -> None:
    memory = Memory.load(system)
    sha256 = bundle.use_started(system)
    if sha256 != memory.sha256:  # otherwise the node would refuse another bundle of the generation that it knows
        memory.sha256, memory.generation = sha256, max(0, memory.generation - 1)
    memory.save(system)
    service.install(context.cluster.path, system)


def _report(context: Context, system: System, aws: Aws) -> None:
    memory = Memory.load(system)
    reports = Reports(context, system)
    reports.add_outcome(Outcome(APPLIED, memory.sha256, memory.generation))
    try:
        reports.send(aws)
    finally:
        memory.unsent = reports.lines  # the agent sends them later; a node without a route to AWS must not wait
        memory.save(system)


def _tried(consequence: str, action: Callable[[], None]) -> bool:
    """Return whether ``action`` succeeded; otherwise print a warning."""
    try:
        action()
    except (NodeError, OSError) as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  the node works without its agent
        problem = unexpected(error)
    else:
        return True
    print(f"warning: {consequence}: {problem}")
    return False
