"""A simulated node: a root volume, a network namespace, a cgroup, and systemd in them. Part of the hub's process."""

import json
import os
import socket
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from local_aws.builds import relay
from local_aws.builds.errors import HostError
from local_aws.builds.programs import run, succeeds
from local_aws.host_names import domain
from local_aws.nodes import cgroups
from local_aws.nodes.machines import endpoint, write_files
from local_aws.nodes.machines.disk import Disk
from local_aws.nodes.machines.messages import Messages
from local_aws.nodes.machines.network import OFF_S, Network
from local_aws.nodes.machines.pods import PodsOfNode, PodSupport
from local_aws.nodes.protocol import Json
from local_aws.nodes.specs import NodeSpec, Vpc

BOOT_S = 300.0
_REBOOT = 133  # with --keep-unit, nspawn leaves the next boot to its caller
_TAIL_LINES = 15
# systemd hides or removes files in these folders when it starts.
_NOT_KEPT = ("/tmp", "/run", "/dev", "/proc", "/sys")  # noqa: S108  # paths of a node, and refused
_NSPAWN = {
    "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
    "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network",
    "SYSTEMD_NSPAWN_TMPFS_TMP": "0",  # /tmp is on the root volume and emptied at boot, as on Ubuntu
}


@dataclass(frozen=True)
class HubResources:
    """The resources that all nodes of a hub share."""

    layers: tuple[Path, ...]  # of the image, uppermost first
    vpc: Vpc
    network: Network
    cgroup: Path
    logs: Path
    binds: tuple[str, ...]
    folder: Path = Path()
    pods: PodSupport | None = None  # of nodes of an EKS cluster


class Node:
    """A node that boots, runs, or has been shut down."""

    def __init__(self, spec: NodeSpec, hub: HubResources) -> None:
        self.spec, self._hub = spec, hub
        self.state = "stopped"
        self.console = hub.logs / spec.id / "console.log"
        self._disk = Disk(spec.id, hub.layers, spec.disk_mib)
        self._cgroup = hub.cgroup / spec.id
        self._messages = Messages(self._heard)
        self._process: subprocess.Popen[bytes] | None = None
        self._change = threading.Condition()
        self._making = threading.Lock()  # a node may be stopped while it is created
        self._endpoint: socket.socket | None = None
        self._boots, self._leader = 0, 0
        self._pods: PodsOfNode | None = None
        self.is_going, self._is_gone = False, False

    def boot(self, files: Json) -> None:
        """Create the node with its files, start systemd, and wait until it has reached its default target."""
        misplaced = [path for path in files if path.startswith(tuple(f"{place}/" for place in _NOT_KEPT))]
        if misplaced:
            raise HostError(f"{misplaced[0]} does not survive a boot; put it there afterwards")
        self.console.parent.mkdir(parents=True, exist_ok=True)
        with self._making:
            if self.is_going:
                raise HostError(f"node {self.spec.id} was stopped before it booted")
            self._disk.make()
            self._write_identity()
            self._pods = self._hub.pods.prepare(self.spec.id, self._disk) if self._hub.pods else None
            for folder, target in self.spec.links.items():
                run("chroot", str(self._disk.root), "sh", "-euc", 'mv "$1" "$2"; ln -s "$2" "$1"', "sh", folder, target)
            self._write_files(("chroot", str(self._disk.root)), files)
            self._hub.network.plug(self.spec.id, self.spec.address)
            self._endpoint = endpoint.listen(self.spec.id, self._hub.folder) if self.spec.reaches_aws else None
            self._cgroup.mkdir()
            self._start()
        self._wait_for_boot(1)

    def reboot(self) -> None:
        """Reboot, and wait until systemd has reached its default target again."""
        boots = self._boots
        subprocess.run([*self.entrance(), "systemctl", "reboot"], stdin=subprocess.DEVNULL, check=False, capture_output=True)
        self._wait_for_boot(boots + 1)

    def put(self, files: Json) -> None:
        """Write files to the running node."""
        self._write_files(tuple(self.entrance()), files)

    def entrance(self) -> list[str]:
        """Return the start of a command line that enters the node from the hub; wait for a node that boots."""
        with self._change:
            self._change.wait_for(lambda: self.state != "booting", BOOT_S)
            if self.state != "running":
                raise HostError(f"node {self.spec.id} is {self.state}, not running")
            return ["nsenter", "-t", str(self._leader), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w"]

    def has_gone_since(self, entrance: list[str]) -> bool:
        """Return whether the node that ``entrance`` enters has ended or is about to: shut down, rebooted or stopped."""
        with self._change:
            if self.is_going or self.state != "running" or entrance[2] != str(self._leader):
                return True
        return not succeeds(*entrance, "true")  # a pid namespace whose first process has ended cannot be entered

    def stop(self) -> None:
        """Stop the node without a shutdown and remove everything except the logs."""
        with self._change:
            self.is_going = True
        with self._making:
            if self._is_gone:
                return
            cgroups.remove(self._cgroup)
            if self._process:
                self._process.wait()
            if self._pods:
                self._pods.remove_cgroups()
            self._messages.close()
            if self._endpoint:
                relay.close(self._endpoint)
            self._disk.drop()
            self._hub.network.unplug(self.spec.id)
            self._is_gone = True

    def tail(self) -> str:
        """Return the console's last lines."""
        lines = self.console.read_text(errors="replace").splitlines() if self.console.exists() else []
        return "\n".join(lines[-_TAIL_LINES:])

    def _write_files(self, entrance: tuple[str, ...], files: Json) -> None:
        if files:
            run(*entrance, "python3", "-I", "-c", Path(write_files.__file__).read_text(), stdin=json.dumps(files))

    def _write_identity(self) -> None:
        etc, vpc = self._disk.root / "etc", self._hub.vpc
        name, zone = self.spec.hostname, domain(vpc.region)
        (etc / "machine-id").write_text(uuid.uuid5(uuid.NAMESPACE_OID, self.spec.id).hex + "\n")
        (etc / "hostname").write_text(f"{name}\n")
        (etc / "hosts").write_text("127.0.0.1 localhost\n")
        (etc / "resolv.conf").unlink(missing_ok=True)
        (etc / "resolv.conf").write_text(f"nameserver {vpc.resolver}\nsearch {zone}\n")

    def _start(self) -> None:
        self.state = "booting"
        environment = os.environ | _NSPAWN | {"NOTIFY_SOCKET": self._messages.address}
        environment |= self._pods.environment if self._pods else {}
        groups = [self._cgroup, *(self._pods.cgroups if self._pods else ())]
        into_cgroup = "".join(f"echo $$ >{group}/cgroup.procs && " for group in groups) + 'exec "$@"'
        with self.console.open("ab") as console:
            self._process = subprocess.Popen(
                ["sh", "-c", into_cgroup, "sh", *self._command()],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env=environment,
            )
        threading.Thread(target=self._attend, args=(self._process,), daemon=True).start()

    def _command(self) -> list[str]:
        # The node's own boot time, by which slurmctld knows a reboot: a time namespace in which this machine has just booted.
        uptime_s = int(time.clock_gettime(time.CLOCK_BOOTTIME))
        return [
            *("unshare", "--time", f"--boottime=-{uptime_s}", "--fork"),
            *("systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--settings=no"),
            *("--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=pipe", "--notify-ready=yes"),
            "--capability=CAP_NET_ADMIN",  # of the node's own network: packet filters
            f"--directory={self._disk.root}",
            f"--machine={self.spec.id}",
            f"--hostname={self.spec.hostname}",
            f"--network-namespace-path=/run/netns/{self.spec.id}",
            *(f"--bind={bind}" for bind in (*self._hub.binds, *self.spec.binds)),
            *(self._pods.options if self._pods else ()),
            "systemd.show_status=0",
            "systemd.condition_needs_update=0",  # the image is complete: nothing to rebuild at the first boot
        ]

    def _attend(self, process: subprocess.Popen[bytes]) -> None:
        status = process.wait()
        with self._change:
            if status == _REBOOT and not self.is_going:
                self.state = "booting"
                self._change.wait_for(lambda: self.is_going, OFF_S)
            if status == _REBOOT and not self.is_going:
                self._start()
            else:
                self.state = "stopped"
            self._change.notify_all()

    def _heard(self, message: dict[str, str]) -> None:
        with self._change:
            if "X_NSPAWN_LEADER_PID" in message:
                self._leader = int(message["X_NSPAWN_LEADER_PID"])
            if message.get("READY") == "1":
                self.state = "running"
                self._boots += 1
                self._change.notify_all()

    def _wait_for_boot(self, boots: int) -> None:
        with self._change:
            came = self._change.wait_for(lambda: self._boots >= boots or self.state == "stopped", BOOT_S)
            booted = self._boots >= boots
        if booted:
            return
        what = "ended while it booted" if came else f"did not boot within {BOOT_S:.0f} s"
        raise HostError(f"node {self.spec.id} {what}; its console's last lines:\n{self.tail()}")
