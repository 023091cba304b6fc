"""`./hpod status CLUSTER`: stacks, groups, nodes, file systems, alarms and the last events."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from cli.deployment import Deployment, Stack
from cli.render import Redraw, redraw
from cli.result import Block, Json, Result, Table
from cli.rollback import STUCK, rollback_fix
from cli.stack_operations import failures, progress
from cli.status.report import ClusterReport

WATCH_S = 10
WITH_CUSTOM_RESOURCES = ("Kubernetes", "Cluster", "Addons")
VALUES = ("cluster", "arn", "status", "message", "bundle_sha256", "slurm", "kubernetes", "eks", "scheduler_config")
LISTS = ("groups", "nodes", "quotas", "file_systems", "alarms", "events")
"""The keys of a cluster, which a deployment may still lack."""


def status(deployment: Deployment, *, show_all: bool = False, now: datetime | None = None) -> Result:
    """Return the state of everything that a cluster file describes."""
    stacks = deployment.read_stacks()
    failed = {stack.name: found for stack in stacks if (found := failures(deployment, stack))}
    stuck = [rollback_fix(deployment, stack) for stack in stacks if stack.status == STUCK]
    running = [line for stack in _busy(stacks) for line in progress(deployment, stack)]
    data: Json = {
        "stacks": [
            {"name": stack.name, "status": stack.status, "message": stack.reason or None, "failures": failed.get(stack.name, [])}
            for stack in stacks
        ],
        "progress": running,
        **dict.fromkeys(VALUES),
        **{name: [] for name in LISTS},
    }
    blocks: list[Block] = [
        Table(("STACK", "STATUS"), [(stack.name, stack.status) for stack in stacks]),
        *(f"why {name} failed:\n{chr(10).join(found)}" for name, found in failed.items()),
        *stuck,
        *running,
    ]
    if len(blocks) > 1 and not any("ClusterName" in stack.outputs for stack in stacks):
        return Result(data, blocks)
    return ClusterReport(deployment, stacks, now or datetime.now(UTC)).result(data, blocks, show_all=show_all)


def _busy(stacks: list[Stack]) -> list[str]:
    """Return the last names of the stacks whose custom resources may be at work."""
    names = [stack.name.rpartition("-")[2] for stack in stacks if stack.status.endswith("_IN_PROGRESS")]
    return [name for name in names if name in WITH_CUSTOM_RESOURCES]


def watch(
    deployment: Deployment, *, show_all: bool = False, draw: Redraw = redraw, sleep: Callable[[float], None] = time.sleep
) -> Result:
    """Print the state again and again, until Ctrl-C."""
    while True:
        draw(status(deployment, show_all=show_all))
        sleep(WATCH_S)
