"""Runs on every node as root, started by on_create.sh: run the steps of this node's role in order.

With --live, on a running node: run only the steps that change it without a restart.
"""

import sys
import time
import traceback
from pathlib import Path

from hyperpod_node.context import RESOURCE_CONFIG, Context
from hyperpod_node.errors import NodeError, unexpected
from hyperpod_node.follow import lock
from hyperpod_node.plan import run_live_steps, run_steps
from hyperpod_node.system import SYSTEM

LOCK_TIMEOUT_S = 900  # longer than the agent needs for the live steps


def main() -> int:
    """Run the steps of this node; HyperPod reads the exit status, operators read the last line."""
    started = time.monotonic()
    try:
        if "--live" in sys.argv:  # the agent holds the lock
            run_live_steps(_context(), SYSTEM)
        else:
            _run()
    except NodeError as error:
        print(f"lifecycle script failed: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001 - the last line reports every error
        traceback.print_exc()
        print(f"lifecycle script failed: {unexpected(error)}", file=sys.stderr)
        return 1
    print(f"lifecycle script done in {time.monotonic() - started:.1f} s")
    return 0


def _run() -> None:
    """Run all steps, and meanwhile not the agent of an earlier run."""
    with lock.held(SYSTEM, LOCK_TIMEOUT_S) as is_free:
        if not is_free:
            print("warning: the agent of this node is still applying a bundle")
        run_steps(_context(), SYSTEM)


def _context() -> Context:
    context = Context.load(Path(__file__).parent, RESOURCE_CONFIG, SYSTEM)
    node = context.node
    print(f"{node.name} ({node.address}) of cluster {node.cluster_name}: role {node.role}, group {node.group}")
    return context


if __name__ == "__main__":
    sys.exit(main())
