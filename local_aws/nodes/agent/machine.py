"""One node of a cluster from its start until it has gone: what is known of it beside the hub."""

import threading
from dataclasses import dataclass, field

from local_aws.hyperpod.node_runner import Launch
from local_aws.nodes.agent.slurm_conf import SlurmLayout
from local_aws.nodes.agent.view import ClusterView, hostname


@dataclass(eq=False)
class Machine:
    """A node that starts, runs or goes."""

    launch: Launch
    starter: threading.Thread
    layout: SlurmLayout | None = None  # None where its scripts bring no provisioning_parameters.json
    view: ClusterView | None = None  # what its files say of the cluster; None until it has booted
    is_wanted: bool = True
    has_placeholder: bool = False  # in the place of its slurm.conf
    gone: threading.Event = field(default_factory=threading.Event)

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.launch.node.id

    @property
    def name(self) -> str:
        """HyperPod's name of the instance."""
        return f"{self.launch.node.group}-{self.launch.node.number}"

    @property
    def is_controller(self) -> bool:
        """Whether Slurm's controller lives on it."""
        return self.layout is not None and self.layout.controller_group == self.launch.node.group

    def describe(self, folder: str) -> dict[str, str]:
        """What a person needs to find it, and a program to enter it."""
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
