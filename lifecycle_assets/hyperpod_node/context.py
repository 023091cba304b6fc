"""The input of every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.node import Node
    from hyperpod_node.node_settings import InstanceType, NodeSettings
    from hyperpod_node.provisioning_parameters import ProvisioningParameters
    from hyperpod_node.resource_config import ResourceConfig


@dataclass(frozen=True)
class Context:
    """This node, its cluster, and their settings from the cluster file."""

    node: Node
    cluster: ResourceConfig
    parameters: ProvisioningParameters
    settings: NodeSettings

    @property
    def instance_type(self) -> str:
        """Return the instance type of this node; empty if HyperPod lists none."""
        return self.cluster.instance_with([self.node.address]).instance_type

    @property
    def hardware(self) -> InstanceType | None:
        """Return the hardware of this node's instance type, or None if it is unknown."""
        return self.settings.instance_types.get(self.instance_type)
