"""The node that this code runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.provisioning_parameters import ProvisioningParameters
    from hyperpod_node.resource_config import ResourceConfig


@dataclass(frozen=True)
class Node:
    """This node's place in the cluster."""

    name: str
    address: str
    group: str
    role: str
    cluster_name: str

    @classmethod
    def find(cls, cluster: ResourceConfig, parameters: ProvisioningParameters, *, addresses: list[str]) -> Node:
        """Return the node of the cluster that has one of ``addresses``, with its role."""
        instance = cluster.instance_with(addresses)
        role = parameters.role_of(instance.group)
        return cls(instance.name, instance.address, instance.group, role, cluster.cluster_name)
