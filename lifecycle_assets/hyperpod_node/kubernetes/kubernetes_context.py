"""The input of every step on a node of a cluster on Amazon EKS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.resource_config import ResourceConfig

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.machine import Machine


@dataclass(frozen=True)
class KubernetesContext:
    """This node's place in its cluster; names are empty if HyperPod's file lacks them."""

    scripts: Path
    name: str = ""
    address: str = ""
    group: str = ""
    cluster_name: str = ""

    @classmethod
    def load(cls, scripts: Path, resource_config: Path, machine: Machine) -> KubernetesContext:
        """Return the node from HyperPod's file. No step needs it, so that a missing file is only a warning."""
        try:
            cluster = ResourceConfig.load(machine.path(resource_config))
            instance = cluster.instance_with(machine.run("hostname", "-I").split())
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
