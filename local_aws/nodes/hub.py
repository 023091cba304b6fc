"""The nodes of a cluster, as the embedded AWS uses them: boot, run, reboot and stop through the hub's socket."""

import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from local_aws.builds import relay
from local_aws.builds.errors import HostError
from local_aws.builds.relay import Relay
from local_aws.nodes import cgroups, protocol
from local_aws.nodes.client import ask, ask_states
from local_aws.nodes.image import store
from local_aws.nodes.specs import HOST, FileSystem, NodeFile, NodeSpec, Vpc

__all__ = ["FileSystem", "HostError", "Hub", "NodeFile", "NodeSpec", "Vpc"]

_PROJECT = Path(__file__).parents[2]
_END_S = 60.0
_LOG_TAIL = 2000


class Hub:
    """All nodes of a cluster. All methods are thread-safe.

    ``folder`` is the hub's own (its socket, its logs at ``log/NODE/console.log``); two hubs that live at once must not share it.
    The hub ends automatically when the process that started it is gone, however it ended.
    """

    def __init__(self, folder: Path, image: Path, vpc: Vpc) -> None:
        self.folder, self.image, self.vpc = folder.resolve(), image.resolve(), vpc
        self.endpoint = ""  # of the embedded AWS; without it, no node reaches one
        self.kubelet: Path | None = None  # the folder of the kubelet's program, for nodes of an EKS cluster
        self._relays: list[Relay] = []
        self._guardian: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the hub; return when it accepts requests."""
        self._check_places()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for system in self.vpc.file_systems.values():
            system.folder.mkdir(parents=True, exist_ok=True)
        plan = protocol.plan(self.vpc, store.layers(self.image, self.kubelet), cgroups.name_for(self.folder))
        (self.folder / protocol.PLAN).write_text(plan)
        store.note_use(self.image, self.kubelet)
        with self._lock:
            if self._guardian:
                raise HostError(f"the hub in {self.folder} is already started")
            ways = {relay.SOCKET: self.endpoint, relay.API_SERVER: self.vpc.control_plane}
            self._relays = [Relay(self.folder, url, name) for name, url in ways.items() if url]
            self._guardian = self._start_guardian()

    def boot(self, spec: NodeSpec) -> None:
        """Boot a node; return when systemd has reached its default target, or raise with the console's last lines.

        Files in /tmp and /run do not survive a boot: `put` them afterwards.
        """
        self._ask("boot", protocol.spec_to_json(spec))

    def name(self, node_id: str) -> None:
        """Make the host name of a node resolve."""
        self._ask("name", node_id)

    def name_pods(self, names: Mapping[str, str]) -> None:
        """Replace the names of services and pods, with their addresses."""
        self._ask("names_of_pods", dict(names))

    def put(self, node_id: str, files: Mapping[str, NodeFile]) -> None:
        """Write files to a running node, each atomically: a reader sees the old or the new one."""
        self._ask("put", node_id, protocol.files_to_json(files))

    def run(
        self,
        node_id: str,
        *argv: str,
        environment: Mapping[str, str] | None = None,
        folder: str = "/",
        unit: str | None = None,
        on_line: Callable[[str], None] | None = None,
        timeout_s: float | None = None,
        mounts: str = HOST,
    ) -> int:
        """Run a program on a node as root, as a systemd unit of its own, and return its exit status.

        ``on_line`` gets standard output and error together, line by line without line ends, from this thread.
        After ``timeout_s`` the unit is killed with all its processes and HostError is raised, as when the node ends meanwhile.
        ``mounts`` is "host", or "slave" or "private" for a mount namespace of its own.
        """
        command = {"argv": argv, "environment": dict(environment or {}), "folder": folder, "unit": unit, "timeout_s": timeout_s}
        command["mounts"] = mounts
        status = self._ask("run", node_id, command, on_line=on_line)
        if not isinstance(status, int):
            raise HostError(f"the hub responded {status!r} instead of an exit status")
        return status

    def reboot(self, node_id: str) -> None:
        """Reboot a node; return when it is running again. Its root volume stays, except /tmp."""
        self._ask("reboot", node_id)

    def stop(self, node_id: str) -> None:
        """Stop a node without a shutdown and delete its root volume; ignore an unknown node."""
        self._ask("stop", node_id)

    def states(self) -> dict[str, str]:
        """Return the state of every node that was booted and not stopped: booting, running, or stopped (from inside)."""
        return ask_states(self.folder)

    def end(self) -> None:
        """End the hub with all nodes, mounts, namespaces and cgroups. Safe to repeat."""
        with self._lock:
            guardian, self._guardian = self._guardian, None
            relays, self._relays = self._relays, []
        for each in relays:
            each.close()
        if guardian is None:
            return
        if guardian.stdin:
            guardian.stdin.close()
        try:
            guardian.wait(_END_S)
        except subprocess.TimeoutExpired as error:
            raise HostError(f"the hub in {self.folder} did not end; process {guardian.pid} guards it") from error

    def _ask(self, operation: str, *arguments: object, on_line: Callable[[str], None] | None = None) -> object:
        return ask(self.folder, operation, *arguments, on_line=on_line)

    def _check_places(self) -> None:
        for place in (self.folder, self.image, *(system.folder.resolve() for system in self.vpc.file_systems.values())):
            if place.is_relative_to("/run") or place.is_relative_to("/sys"):
                raise HostError(f"{place} cannot be used: the hub has its own /run and /sys; choose another folder")
        if not self.image.is_dir():
            raise HostError(f"no image at {self.image}; build it with `python -m local_aws.nodes setup`")

    def _start_guardian(self) -> subprocess.Popen[bytes]:
        log = self.folder / "hub.log"
        with log.open("wb") as output:
            guardian = subprocess.Popen(
                [sys.executable, "-m", "local_aws.nodes.guardian", str(self.folder)],
                cwd=_PROJECT,
                stdin=subprocess.PIPE,  # closes with this process, however it ends
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,  # a Ctrl-C at the terminal ends the owner, which ends the hub
            )
        with guardian.stdout:  # type: ignore[union-attr]  # it is a pipe
            ready = guardian.stdout.readline()  # type: ignore[union-attr]  # as above
        if ready.decode().strip() != protocol.READY:
            guardian.stdin.close()  # type: ignore[union-attr]  # as above
            guardian.wait(_END_S)
            raise HostError(f"the hub did not start: {log.read_text(errors='replace').strip()[-_LOG_TAIL:]}")
        return guardian
