"""The scheduler of a cluster: Slurm or Kubernetes."""

from collections.abc import Iterable

from cli.deployment import Deployment
from cli.node_actions.kubernetes import Kubernetes, KubernetesHost
from cli.node_actions.slurm import Slurm, SlurmNode

Scheduler = Slurm | Kubernetes
Host = SlurmNode | KubernetesHost
"""A node in the scheduler."""


def kubernetes_of(deployment: Deployment) -> Kubernetes:
    """Return Kubernetes on the EKS cluster of a deployment."""
    return Kubernetes(deployment.kubernetes)


def drained_for(action: str, hosts: Iterable[Host]) -> set[str]:
    """Return the hosts that an earlier or the present run of this action drained."""
    return {each.host for each in hosts if each.is_drained and each.reason.startswith(f"hpod {action} by ")}
