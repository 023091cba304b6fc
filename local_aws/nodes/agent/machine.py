"""The state of a cluster's node outside the hub, from its start to its end."""

import threading
from dataclasses import dataclass, field

from local_aws.hyperpod.node_runner import Launch
from local_aws.nodes.agent.slurm_conf import SlurmLayout
from local_aws.nodes.agent.view import ClusterView, hostname


@dataclass(eq=False)
class Machine:
    """A node that starts, runs or stops."""

    launch: Launch
    starter: threading.Thread
    layout: SlurmLayout | None = None  # None if its scripts have no provisioning_parameters.json
    view: ClusterView | None = None  # the view in its files; None until it has booted
    is_wanted: bool = True
    has_placeholder: bool = False  # instead of its slurm.conf
    runs_kubelet: bool = False
    gone: threading.Event = field(default_factory=threading.Event)

    @property
    def id(self) -> str:
        """Return the instance's id."""
        return self.launch.node.id

    @property
    def name(self) -> str:
        """Return HyperPod's name of the instance."""
        return f"{self.launch.node.group}-{self.launch.node.number}"

    @property
    def is_controller(self) -> bool:
        """Return whether it is a Slurm controller."""
        return self.layout is not None and self.layout.controller_group == self.launch.node.group

    def describe(self, folder: str) -> dict[str, str]:
        """Return the node's identity, address, role and status, and its hub's folder."""
        node, cluster = self.launch.node, self.launch.cluster
        return {
            "cluster": cluster.name,
            "name": self.name,
            "id": self.id,
            "host": hostname(node.address),
            "address": node.address,
            "group": node.group,
            "role": self._role(),
            "status": node.status,
            "folder": folder,
        }

    def _role(self) -> str:
        if self.layout is None:
            return ""
        if self.is_controller:
            return "controller"
        return "compute" if self.launch.node.group in self.layout.partitions else "login"
