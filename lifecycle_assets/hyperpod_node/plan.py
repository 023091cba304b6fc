"""The steps of a node, in order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.node_settings import API, SCRIPTS
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER, LOGIN
from hyperpod_node.step_runner import run_step
from hyperpod_node.steps import (
    accounting,
    directory,
    extra_scripts,
    file_systems,
    follow,
    log_rotation,
    message_of_the_day,
    metadata_access,
    munge,
    precheck,
    readiness,
    slurm_client,
    slurm_controller,
    ssh,
    ssh_restriction,
    users,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

EVERY_ROLE = (CONTROLLER, LOGIN, COMPUTE)


@dataclass(frozen=True)
class Step:
    """One step, and the roles and setups that run it; ``apply`` returns False if the step has nothing to do on this node.

    ``live`` runs on running nodes that follow the cluster file; without it, the step concerns only nodes that start.
    """

    title: str
    apply: Callable[[Context, System], bool | None]
    roles: tuple[str, ...] = EVERY_ROLE
    setups: tuple[str, ...] = (SCRIPTS, API)
    live: Callable[[Context, System], bool | None] | None = None


STEPS: tuple[Step, ...] = (
    Step("copy of the scripts", follow.keep),
    Step("wait until the node is ready", readiness.apply),
    Step("mount OpenZFS at /home", file_systems.apply_openzfs, setups=(SCRIPTS,)),
    Step("mount FSx at /fsx", file_systems.apply_fsx, setups=(SCRIPTS,)),
    Step("HyperPod's mounts", file_systems.apply_hyperpod_mounts, setups=(API,)),
    Step("hold the Lustre client", file_systems.hold_lustre_client),
    Step("disk for containers", file_systems.choose_container_disk, setups=(SCRIPTS,)),
    Step("metadata service", metadata_access.apply, live=metadata_access.apply),
    Step("groups and users", users.apply, live=users.apply),
    Step("message of the day", message_of_the_day.apply, live=message_of_the_day.apply),
    Step("ssh between nodes", ssh.apply, live=ssh.apply),
    Step("log rotation", log_rotation.apply, live=log_rotation.apply),
    Step("hyperpod-precheck", precheck.apply, live=precheck.apply),
    Step("directory", directory.apply, live=directory.apply_live),
    Step("your scripts before Slurm", extra_scripts.before_slurm),
    Step("munge", munge.apply),
    Step("slurm.conf", slurm_controller.apply_configuration, (CONTROLLER,), live=slurm_controller.apply_live),
    Step("Slurm's accounting", accounting.apply, (CONTROLLER,), live=accounting.apply_live),
    Step("slurmctld", slurm_controller.apply, (CONTROLLER,)),
    Step("slurmd", slurm_client.apply_worker, (COMPUTE,)),
    Step("ssh for users with jobs", ssh_restriction.apply, (COMPUTE,), live=ssh_restriction.apply),
    Step("Slurm's commands", slurm_client.apply_login, (LOGIN,)),
    Step("your scripts after Slurm", extra_scripts.after_slurm),
    Step("your live scripts", extra_scripts.live, live=extra_scripts.live),
    Step("your scripts for the cluster", extra_scripts.controller_ready, (CONTROLLER,)),
    Step("follow the cluster file", follow.apply, live=follow.apply_live),
)


def run_live_steps(context: Context, system: System, steps: tuple[Step, ...] = STEPS) -> None:
    """Run on a running node each step of its role that changes running nodes; stop at the first failure."""
    run_steps(context, system, tuple(replace(step, apply=step.live) for step in steps if step.live))


def run_steps(context: Context, system: System, steps: tuple[Step, ...] = STEPS) -> None:
    """Run each step of this node's role; stop at the first failure, with the step's title in the error."""
    for step in steps:
        if context.role not in step.roles or context.settings.slurm.setup not in step.setups:
            continue
        run_step(step.title, partial(step.apply, context, system))
