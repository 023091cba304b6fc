"""One cluster's nodes, seen from the embedded AWS: boots, runs, reboots and stops them through the hub's socket."""

from collections.abc import Callable, Mapping
from pathlib import Path

from local_aws.nodes.specs import FileSystem, NodeFile, NodesError, NodeSpec, Vpc

__all__ = ["FileSystem", "Hub", "NodeFile", "NodeSpec", "NodesError", "Vpc"]


class Hub:
    """All nodes of one cluster. Every method may be called from several threads at once.

    ``folder`` is the hub's own (its socket, its logs at ``log/NODE/console.log``); it must be the same for no two hubs
    that live at once. The hub ends by itself when the process that started it is gone, however it went.
    """

    def __init__(self, folder: Path, image: Path, vpc: Vpc) -> None:
        self.folder, self.image, self.vpc = folder, image, vpc

    def start(self) -> None:
        """Start the hub."""
        raise NotImplementedError

    def boot(self, spec: NodeSpec) -> None:
        """Boot a node; return when systemd has reached its default target. Else raise with the console's last lines.

        Nothing in /tmp and /run lives through a boot: `put` such files afterwards.
        """
        raise NotImplementedError

    def put(self, node_id: str, files: Mapping[str, NodeFile]) -> None:
        """Lay files on a running node, each at once: a reader sees the old one or the new one."""
        raise NotImplementedError

    def run(
        self,
        node_id: str,
        *argv: str,
        environment: Mapping[str, str] | None = None,
        folder: str = "/",
        unit: str | None = None,
        on_line: Callable[[str], None] | None = None,
        timeout_s: float | None = None,
    ) -> int:
        """Run a program on a node as root, as a systemd unit of its own, and return its exit status.

        Standard output and error come to ``on_line`` together, line by line and without the line's end, from this thread.
        After ``timeout_s`` the unit is killed with all it started and NodesError is raised, as when the node goes meanwhile.
        """
        raise NotImplementedError

    def reboot(self, node_id: str) -> None:
        """Reboot a node; return when it is up again."""
        raise NotImplementedError

    def stop(self, node_id: str) -> None:
        """Pull the plug of a node; its root volume is gone. Nothing happens where there is no such node."""
        raise NotImplementedError

    def end(self) -> None:
        """End the hub with all nodes, mounts, namespaces and cgroups. May be called again."""
        raise NotImplementedError
