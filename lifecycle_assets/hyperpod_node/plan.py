"""What happens on a node, in this order."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, unexpected
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER, LOGIN
from hyperpod_node.steps import (
    accounting,
    container_storage,
    extra_scripts,
    fsx,
    log_rotation,
    message_of_the_day,
    munge,
    openzfs,
    precheck,
    readiness,
    slurm_configuration,
    slurm_controller,
    slurm_login,
    slurm_worker,
    ssh,
    ssh_restriction,
    users,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context

EVERY_ROLE = (CONTROLLER, LOGIN, COMPUTE)


@dataclass(frozen=True)
class Step:
    """One step, and the roles whose nodes take it; it returns False where it does not concern the node after all."""

    title: str
    apply: Callable[[Context], bool | None]
    roles: tuple[str, ...] = EVERY_ROLE


STEPS: tuple[Step, ...] = (
    Step("wait until the node is ready", readiness.apply),
    Step("mount OpenZFS at /home", openzfs.apply),
    Step("mount FSx at /fsx", fsx.apply),
    Step("disk for containers", container_storage.apply),
    Step("groups and users", users.apply),
    Step("message of the day", message_of_the_day.apply),
    Step("ssh between nodes", ssh.apply),
    Step("log rotation", log_rotation.apply),
    Step("hyperpod-precheck", precheck.apply),
    Step("your scripts before Slurm", extra_scripts.before_slurm),
    Step("munge", munge.apply),
    Step("slurm.conf", slurm_configuration.apply, (CONTROLLER,)),
    Step("Slurm's accounting", accounting.apply, (CONTROLLER,)),
    Step("slurmctld", slurm_controller.apply, (CONTROLLER,)),
    Step("slurmd", slurm_worker.apply, (COMPUTE,)),
    Step("ssh for users with jobs", ssh_restriction.apply, (COMPUTE,)),
    Step("Slurm's commands", slurm_login.apply, (LOGIN,)),
    Step("your scripts after Slurm", extra_scripts.after_slurm),
    Step("your scripts for the cluster", extra_scripts.controller_ready, (CONTROLLER,)),
)


def carry_out(context: Context, steps: tuple[Step, ...] = STEPS) -> None:
    """Take each step of this node's role; the first that fails ends it, with its title in the error."""
    for step in steps:
        if context.node.role not in step.roles:
            continue
        started = time.monotonic()
        try:
            concerned = step.apply(context)
        except (NodeError, OSError) as error:  # a full disk speaks in OSErrors
            raise NodeError(f"step '{step.title}': {error}") from error
        except Exception as error:
            traceback.print_exc()  # a mistake in the scripts: for who mends it; the last line is for the operator
            raise NodeError(f"step '{step.title}': {unexpected(error)}") from error
        if concerned is not False:
            print(f"{step.title}: {time.monotonic() - started:.1f} s")
