"""The interface between the service, which decides when nodes start, and the runner that runs them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from local_aws.hyperpod.model import Cluster, Node


@dataclass(frozen=True)
class Launch:
    """A node to start."""

    cluster: Cluster
    node: Node


@dataclass(frozen=True)
class Outcome:
    """The result of a node's start: success, or a message for the operator."""

    failure: str | None = None


Done = Callable[[Outcome], None]
Reserved = Callable[[set[str]], None]
"""Gets the ids of the nodes on which jobs run."""


class NodeRunner(Protocol):
    """Starts and stops nodes. No method may block: ``done`` is called when the lifecycle script has ended or the node is back.

    A software update stops a node and starts it again. ``start`` is called without the clusters' lock, the other methods with it.
    """

    @property
    def starts_in_real_time(self) -> bool:
        """Return whether nodes take real time to start: then they start together instead of one after the other."""

    @property
    def runs_kubelets(self) -> bool:
        """Return whether nodes of EKS run a kubelet that registers `hyperpod-ID`; HyperPod only labels them."""

    def start(self, launch: Launch, done: Done) -> None:
        """Boot the node and run its lifecycle script."""

    def stop(self, node_id: str) -> None:
        """Stop the node, if it runs."""

    def reboot(self, node_id: str, done: Done) -> None:
        """Reboot the node; its lifecycle script does not run again."""

    def reserve(self, name: str, node_ids: Sequence[str], done: Reserved) -> None:
        """Put the nodes in a maintenance reservation of Slurm, unless they are in it; then no more jobs start on them."""

    def release(self, name: str, node_ids: Sequence[str], done: Callable[[], None]) -> None:
        """Delete the reservation of the nodes."""

    def reset(self) -> None:
        """Stop all nodes."""
