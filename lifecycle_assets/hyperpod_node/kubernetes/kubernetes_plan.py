"""The steps of a node on Amazon EKS, in order. Nothing of Slurm runs: pods mount file systems, and IAM has the users."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.kubernetes import container_disk
from hyperpod_node.managed_file import put
from hyperpod_node.own_scripts import run_folder
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.step_runner import run_step
from hyperpod_node.steps.log_rotation import FOLDER, PROVISIONING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hyperpod_node.system import System

OWN_SCRIPTS_TIMEOUT_S = 3600  # for all scripts of a point together


@dataclass(frozen=True)
class KubernetesContext:
    """This node's place in its cluster; names are empty if HyperPod's file lacks them."""

    scripts: Path
    name: str = ""
    address: str = ""
    group: str = ""
    cluster_name: str = ""

    @classmethod
    def load(cls, scripts: Path, resource_config: Path, system: System) -> KubernetesContext:
        """Return the node from HyperPod's file. No step needs it, so that a missing file is only a warning."""
        try:
            cluster = ResourceConfig.load(system.path(resource_config))
            instance = cluster.instance_with(system.run("hostname", "-I").split())
        except NodeError as error:
            print(f"warning: the names of this node and its group are unknown: {error}")
            return cls(scripts)
        return cls(scripts, instance.name, instance.address, instance.group, cluster.cluster_name)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables that describe the node to a script."""
        return {
            "HYPERPOD_GROUP": self.group,
            "HYPERPOD_NODE_NAME": self.name,
            "HYPERPOD_CLUSTER_NAME": self.cluster_name,
        }


def rotate_logs(_: KubernetesContext, system: System) -> None:
    """Rotate the log of these scripts."""
    put(system.path(FOLDER) / "hyperpod-provisioning", PROVISIONING)


def run_point(context: KubernetesContext, system: System, point: str) -> bool:
    """Run the user's scripts of ``point``, and return whether there are any; a failure fails the node."""
    return run_folder(context.scripts / "extra" / point, context.environment, system, OWN_SCRIPTS_TIMEOUT_S)


before_kubernetes = partial(run_point, point="before_kubernetes")  # they prepare a node, for example a disk of their own
after_kubernetes = partial(run_point, point="after_kubernetes")  # they need the folders of containerd and kubelet in their place

STEPS: Mapping[str, Callable[[KubernetesContext, System], bool | None]] = {
    "log rotation": rotate_logs,
    "your scripts before Kubernetes": before_kubernetes,
    "disk for containers": container_disk.apply,
    "your scripts after Kubernetes": after_kubernetes,
}
"""By title; a step returns False if it has nothing to do on this node."""


def run_kubernetes_steps(
    context: KubernetesContext, system: System, steps: Mapping[str, Callable[[KubernetesContext, System], bool | None]] = STEPS
) -> None:
    """Run the steps; stop at the first failure, with the step's title in the error."""
    for title, apply in steps.items():
        run_step(title, partial(apply, context, system))
