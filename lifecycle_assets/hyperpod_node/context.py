"""What every step is told."""

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
    """This node, the cluster that it is of, and what the cluster file says of them."""

    node: Node
    cluster: ResourceConfig
    parameters: ProvisioningParameters
    settings: NodeSettings

    @property
    def instance_type(self) -> str:
        """The type of this node; empty where HyperPod tells none."""
        return self.cluster.instance_with([self.node.address]).instance_type

    @property
    def hardware(self) -> InstanceType | None:
        """What is known of this node's instance type, if anything."""
        return self.settings.instance_types.get(self.instance_type)
