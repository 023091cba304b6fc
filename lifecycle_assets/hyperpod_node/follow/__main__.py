"""Run the agent once; a systemd timer starts it every minute. With --check, only verify that it can run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.follow import lock
from hyperpod_node.follow.agent import Agent
from hyperpod_node.follow.aws import Aws
from hyperpod_node.follow.memory import Memory
from hyperpod_node.resource_config import RESOURCE_CONFIG
from hyperpod_node.system import SYSTEM

SCRIPTS = Path(__file__).parents[2]


def main() -> int:
    """Run once, unless the lifecycle script or another run of the agent is busy."""
    return _check() if "--check" in sys.argv else _run()


def _check() -> int:
    """Do what a run needs, without AWS and without a change; the agent in use starts this before it switches to a new bundle."""
    try:
        Agent(Context.load(SCRIPTS, RESOURCE_CONFIG, SYSTEM), SYSTEM, Aws(), Memory.load(SYSTEM)).check()
    except NodeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run() -> int:
    with lock.held(SYSTEM) as is_free:
        if not is_free:
            print("the lifecycle script is running; the agent waits for the next minute")
            return 0
        try:
            os.chdir("/")
            context = Context.load(SCRIPTS, RESOURCE_CONFIG, SYSTEM)
            Agent(context, SYSTEM, Aws(), Memory.load(SYSTEM)).run()
        except NodeError as error:
            print(f"the agent failed: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
