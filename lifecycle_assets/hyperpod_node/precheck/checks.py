"""All checks, in the order in which they run and are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import (
    docker,
    docker_data_root,
    enroot_runtime_path,
    fsx,
    nvidia_container_cli,
    pyxis,
    slurm_daemon,
    user_homes,
)
from hyperpod_node.precheck.check_result import FAIL, SKIP, CheckResult, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hyperpod_node.precheck.checked_node import CheckedNode

    Check = Callable[[CheckedNode], CheckResult]

CHECKS: dict[str, Check] = {
    module.NAME: module.check
    for module in (
        slurm_daemon,
        fsx,
        user_homes,
        docker,
        docker_data_root,
        enroot_runtime_path,
        pyxis,
        nvidia_container_cli,
    )
}


def run_all(node: CheckedNode, required: Collection[str] = ()) -> dict[str, CheckResult]:
    """Run all checks; a ``required`` check fails if it would be skipped."""
    return {name: _require(_run(check, node), name in required) for name, check in CHECKS.items()}


def healthy(results: dict[str, CheckResult]) -> bool:
    """Return whether no check failed."""
    return all(result.state != FAIL for result in results.values())


def _run(check: Check, node: CheckedNode) -> CheckResult:
    try:
        return check(node)
    except NodeError as error:
        return failed(str(error), "run this command yourself; `sudo hyperpod-precheck` may report more")


def _require(result: CheckResult, required: bool) -> CheckResult:
    if required and result.state == SKIP:
        return failed(result.message, "fix this, or run without --require for this check")
    return result
