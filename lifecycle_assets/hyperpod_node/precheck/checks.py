"""All checks, in the order in which they run and are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import containers, file_systems
from hyperpod_node.precheck.check_result import FAIL, SKIP, CheckResult, failed, passed, restart, skipped
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER
from hyperpod_node.slurm import controllers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hyperpod_node.precheck.checked_node import CheckedNode

    Check = Callable[[CheckedNode], CheckResult]

DAEMONS = {CONTROLLER: "slurmctld", COMPUTE: "slurmd"}


def run_all(node: CheckedNode, required: Collection[str] = ()) -> dict[str, CheckResult]:
    """Run all checks; a ``required`` check fails if it would be skipped."""
    return {name: _require(_run(check, node), name in required) for name, check in CHECKS.items()}


def healthy(results: dict[str, CheckResult]) -> bool:
    """Return whether no check failed."""
    return all(result.state != FAIL for result in results.values())


def slurm_daemon(node: CheckedNode) -> CheckResult:
    """Ask systemd for the state of this role's daemon."""
    daemon = DAEMONS.get(node.facts.role)
    if daemon is None:
        return skipped(f"a {node.facts.role} node has no Slurm daemon")
    state = node.state_of(daemon)
    if state == "active":
        return _registered(node) if node.facts.role == COMPUTE else passed(f"{daemon} is active")
    return failed(
        f"{daemon} is {state}",
        f"see the reason: sudo journalctl -u {daemon} -n 50; then: {restart(daemon, state)}",
    )


CHECKS: dict[str, Check] = {
    "slurm daemon": slurm_daemon,
    "/fsx": file_systems.fsx,
    "user homes": file_systems.user_homes,
    "docker": containers.docker,
    "docker data root": containers.docker_data_root,
    "enroot runtime path": containers.enroot_runtime_path,
    "pyxis": containers.pyxis,
    "nvidia container cli": containers.nvidia_container_cli,
}


def _registered(node: CheckedNode) -> CheckResult:
    """Ask slurmctld: slurmd may be active, or restart repeatedly, while slurm.conf has no line for the node."""
    try:
        controllers.require_registration(node.system)
    except NodeError as error:
        return failed(
            f"slurmd is active, but slurmctld does not know {node.system.host}: {error}",
            "HyperPod adds a node to slurm.conf some minutes after it is InService; after that: sudo systemctl restart slurmd",
        )
    return passed("slurmd is active, and slurmctld knows this node")


def _run(check: Check, node: CheckedNode) -> CheckResult:
    try:
        return check(node)
    except NodeError as error:
        return failed(str(error), "run this command yourself; `sudo hyperpod-precheck` may report more")


def _require(result: CheckResult, required: bool) -> CheckResult:
    if required and result.state == SKIP:
        return failed(result.message, "fix this, or run without --require for this check")
    return result
