"""Runs on every node as root, started by on_create.sh: run the steps of this node's role in order.

With --live, on a running node: run only the steps that change it without a restart. Modules of Slurm are imported only on its
nodes: they need a newer Python than Amazon Linux has.
"""

import sys
import time
import traceback
from pathlib import Path

from hyperpod_node.errors import NodeError, problem_of
from hyperpod_node.node_settings import EKS, orchestrator_of
from hyperpod_node.resource_config import RESOURCE_CONFIG
from hyperpod_node.system import SYSTEM

SCRIPTS = Path(__file__).absolute().parent
LOCK_TIMEOUT_S = 900  # longer than the agent needs for the live steps


def main() -> int:
    """Run the steps of this node; HyperPod reads the exit status, operators read the last line."""
    started = time.monotonic()
    try:
        if orchestrator_of(SCRIPTS / "node_settings.json") == EKS:
            _run_on_eks()
        else:
            _run_on_slurm(is_live="--live" in sys.argv)
    except Exception as error:  # noqa: BLE001 - the last line reports every error
        if not isinstance(error, NodeError):
            traceback.print_exc()
        print(f"lifecycle script failed: {problem_of(error)}", file=sys.stderr)
        return 1
    print(f"lifecycle script done in {time.monotonic() - started:.1f} s")
    return 0


def _run_on_eks() -> None:
    from hyperpod_node.kubernetes.kubernetes_plan import KubernetesContext, run_kubernetes_steps

    node = KubernetesContext.load(SCRIPTS, RESOURCE_CONFIG, SYSTEM)
    if node.name:
        print(f"{node.name} ({node.address}) of cluster {node.cluster_name}: group {node.group}")
    run_kubernetes_steps(node, SYSTEM)


def _run_on_slurm(*, is_live: bool) -> None:
    """Run all steps, and meanwhile not the agent of an earlier run; with ``is_live``, the agent holds the lock."""
    from hyperpod_node.context import Context
    from hyperpod_node.follow import lock
    from hyperpod_node.plan import run_live_steps, run_steps

    def context() -> Context:
        found = Context.load(SCRIPTS, RESOURCE_CONFIG, SYSTEM)
        node = found.node
        print(f"{node.name} ({node.address}) of cluster {found.cluster.cluster_name}: role {found.role}, group {node.group}")
        return found

    if is_live:
        run_live_steps(context(), SYSTEM)
        return
    with lock.held(SYSTEM, LOCK_TIMEOUT_S) as is_free:
        if not is_free:
            print("warning: the agent of this node is still applying a bundle")
        run_steps(context(), SYSTEM)


if __name__ == "__main__":
    sys.exit(main())
