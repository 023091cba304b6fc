"""All checks, in the order in which they are made and shown."""

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
from hyperpod_node.precheck.result import FAIL, SKIP, Result, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from hyperpod_node.precheck.machine import Machine

CHECKS: dict[str, Callable[[Machine], Result]] = {
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


def make(machine: Machine, required: Collection[str] = ()) -> dict[str, Result]:
    """Make all checks; one that is ``required`` must not be skipped."""
    return {name: _demand(_safe(check, machine), name in required) for name, check in CHECKS.items()}


def fit(results: dict[str, Result]) -> bool:
    """Tell whether no check failed."""
    return all(result.state != FAIL for result in results.values())


def _safe(check: Callable[[Machine], Result], machine: Machine) -> Result:
    try:
        return check(machine)
    except NodeError as error:
        return failed(str(error), "run that command by hand; `sudo hyperpod-precheck` may see more")


def _demand(result: Result, required: bool) -> Result:
    if required and result.state == SKIP:
        return failed(result.found, "it was asked for with --require")
    return result
