"""What nodes need to run pods: cgroups of version 1, containerd's files, and ways to and from the API server.

Part of the hub's process.
"""

import shutil
import socket
import threading
from dataclasses import dataclass
from pathlib import Path

from local_aws.builds import relay
from local_aws.builds.programs import run
from local_aws.nodes import cgroups
from local_aws.nodes.image import store
from local_aws.nodes.machines.disk import Disk

_PLACE = Path("/run/cgroup1")
_HTTPS = 443
_SEED = "var/lib/containerd-seed"
_SNAPSHOTS = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"
_CONNECT_S = 10.0


@dataclass(frozen=True)
class PodsOfNode:
    """A node's cgroups of version 1, and its options for systemd-nspawn."""

    cgroups: tuple[Path, ...]
    options: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment for systemd-nspawn: containers use system calls that it forbids by default."""
        return {"SYSTEMD_SECCOMP": "0"}

    def remove_cgroups(self) -> None:
        """Remove the cgroups of a node whose processes were killed."""
        for group in self.cgroups:
            cgroups.remove_empty(group)


class PodSupport:
    """What all nodes of a hub share to run pods."""

    def __init__(self, layers: tuple[Path, ...], cgroup: str, folder: Path) -> None:
        pytorch = store.training_layer(layers[-1])
        self._layers = {"kubernetes": layers[0], "debian": layers[-1], **({"pytorch": pytorch} if pytorch.is_dir() else {})}
        self._cgroup, self._folder = cgroup, folder
        self._hierarchies: dict[str, str] = {}

    def mount_hierarchies(self) -> None:
        """Mount the machine's version 1 hierarchies; call it before the hub hides them."""
        for mount, option in cgroups.version_1():
            place = _PLACE / mount.name
            place.mkdir(parents=True)
            self._hierarchies[mount.name] = f"none,{option}" if option.startswith("name=") else option
            run("mount", "-t", "cgroup", "-o", self._hierarchies[mount.name], "cgroup", str(place))
            _make_group(place / self._cgroup)

    def serve(self, api_server: str) -> None:
        """Accept connections to the API server's address, and from the API server to nodes and pods, in the background."""
        inward = socket.create_server((api_server, _HTTPS), backlog=64)
        relay.serve(inward, lambda: relay.connect(self._folder, relay.API_SERVER))
        outward = socket.socket(socket.AF_UNIX)
        (self._folder / relay.PODS).unlink(missing_ok=True)
        with relay.socket_path(self._folder, relay.PODS) as path:
            outward.bind(path)
        outward.listen(64)
        threading.Thread(target=_accept, args=(outward,), daemon=True).start()

    def prepare(self, node_id: str, disk: Disk) -> PodsOfNode:
        """Lay out a node's files for pods, and create its cgroups of version 1."""
        containerd = disk.folder("containerd")
        shutil.copytree(disk.root / _SEED, containerd, dirs_exist_ok=True)
        lines = (f"{name} {option}\n" for name, option in self._hierarchies.items())
        (disk.root / "etc/kubernetes/hierarchies").write_text("".join(lines))
        groups = tuple(_PLACE / name / self._cgroup / node_id for name in self._hierarchies)
        for group in groups:
            _make_group(group)
        binds = [f"--bind={containerd}:/var/lib/containerd", f"--bind={disk.folder('kubelet')}:/var/lib/kubelet"]
        # The layers of container images, see image/kubernetes/container_images.py.
        places = {each.name[1:]: each.parents[1].name for each in (disk.root / _SEED).glob("*.overlayfs/snapshots/*/fs/.*")}
        binds += [
            f"--bind-ro={self._layers[name]}:{_SNAPSHOTS}/{place}/fs" for name, place in places.items() if name in self._layers
        ]
        return PodsOfNode(groups, ("--capability=all", "--bind=/dev/kmsg", *binds))


def _make_group(group: Path) -> None:
    """Create a cgroup of version 1; in a hierarchy of cpuset, with its parent's CPUs and memory."""
    group.mkdir(exist_ok=True)
    for setting in ("cpuset.cpus", "cpuset.mems"):
        if (group / setting).exists():
            (group / setting).write_text((group.parent / setting).read_text())


def _accept(listener: socket.socket) -> None:
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=_tunnel, args=(peer,), daemon=True).start()


def _tunnel(peer: socket.socket) -> None:
    """Serve a CONNECT request, as the API server sends it to a proxy."""
    with peer:
        try:
            host, _, port = _requested(peer).rpartition(":")
            with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S) as other:
                other.settimeout(None)
                peer.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                relay.copy(peer, other)
        except (OSError, ValueError) as error:
            _refuse(peer, error)


def _requested(peer: socket.socket) -> str:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = peer.recv(1)  # what follows the request belongs to the connection
        if not byte:
            raise ConnectionError("the API server closed the connection")
        head += byte
    method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
    if method != "CONNECT":
        raise ValueError(f"unexpected method {method}")
    return target


def _refuse(peer: socket.socket, error: Exception) -> None:
    try:
        peer.sendall(f"HTTP/1.1 502 {error}\r\n\r\n".encode(errors="replace"))
    except OSError:
        return  # the connection is established, or the API server is gone
