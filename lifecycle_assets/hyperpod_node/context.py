"""The input of every step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.node_settings import API, SCRIPTS, NodeSettings
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import Instance, ResourceConfig

if TYPE_CHECKING:
    from hyperpod_node.node_settings import InstanceType
    from hyperpod_node.system import System

# HyperPod rejects provisioning_parameters.json where it configures Slurm from the request.
PARAMETERS = {SCRIPTS: "provisioning_parameters.json", API: "slurm_groups.json"}
NODE_SETTINGS = "node_settings.json"


@dataclass(frozen=True)
class Context:
    """This node and its role, its cluster, and their settings from the cluster file."""

    node: Instance
    role: str
    cluster: ResourceConfig
    parameters: ProvisioningParameters
    settings: NodeSettings

    @classmethod
    def load(cls, scripts: Path, resource_config: Path, system: System) -> Context:
        """Return the context of this node from the files beside the scripts and HyperPod's own."""
        cluster, settings = ResourceConfig.load(resource_config), NodeSettings.load(scripts / NODE_SETTINGS)
        parameters = ProvisioningParameters.load(scripts / PARAMETERS[settings.slurm.setup])
        node = cluster.instance_with(system.run("hostname", "-I").split())
        return cls(node, parameters.role_of(node.group), cluster, parameters, settings)

    @property
    def hardware(self) -> InstanceType | None:
        """Return the hardware of this node's instance type, or None if it is unknown."""
        return self.settings.instance_types.get(self.node.instance_type)
