"""The steps of a node on Amazon EKS, in order. Nothing of Slurm runs: pods mount file systems, and IAM has the users."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.kubernetes import container_disk
from hyperpod_node.managed_file import put
from hyperpod_node.own_scripts import run_folder
from hyperpod_node.step_runner import run_step
from hyperpod_node.steps.log_rotation import FOLDER, PROVISIONING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.kubernetes.kubernetes_context import KubernetesContext
    from hyperpod_node.machine import Machine

OWN_SCRIPTS_TIMEOUT_S = 3600  # for all scripts of a point together


@dataclass(frozen=True)
class KubernetesStep:
    """One step; ``apply`` returns False if it has nothing to do on this node."""

    title: str
    apply: Callable[[KubernetesContext, Machine], bool | None]


def before_kubernetes(context: KubernetesContext, machine: Machine) -> bool:
    """Run the scripts that prepare a node, for example a disk of their own."""
    return _run_point(context, "before_kubernetes", machine)


def after_kubernetes(context: KubernetesContext, machine: Machine) -> bool:
    """Run the scripts that need the folders of containerd and kubelet in their place."""
    return _run_point(context, "after_kubernetes", machine)


def rotate_logs(_: KubernetesContext, machine: Machine) -> None:
    """Rotate the log of these scripts."""
    put(machine.path(FOLDER) / "hyperpod-provisioning", PROVISIONING)


STEPS = (
    KubernetesStep("log rotation", rotate_logs),
    KubernetesStep("your scripts before Kubernetes", before_kubernetes),
    KubernetesStep("disk for containers", container_disk.apply),
    KubernetesStep("your scripts after Kubernetes", after_kubernetes),
)


def run_kubernetes_steps(context: KubernetesContext, machine: Machine, steps: tuple[KubernetesStep, ...] = STEPS) -> None:
    """Run the steps; stop at the first failure, with the step's title in the error."""
    for step in steps:
        run_step(step.title, partial(step.apply, context, machine))


def _run_point(context: KubernetesContext, point: str, machine: Machine) -> bool:
    return run_folder(context.scripts / "extra" / point, context.environment, machine, OWN_SCRIPTS_TIMEOUT_S)
