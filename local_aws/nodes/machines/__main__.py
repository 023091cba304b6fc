"""`python -m local_aws.nodes.machines FOLDER`: the hub's process. Its guardian starts it in separate namespaces."""

import os
import signal
import sys
import threading
from pathlib import Path

from local_aws.builds.programs import run
from local_aws.nodes import cgroups
from local_aws.nodes.machines import dns, imds
from local_aws.nodes.machines.network import Network
from local_aws.nodes.machines.node import HubResources
from local_aws.nodes.machines.pods import PodSupport
from local_aws.nodes.machines.server import Server
from local_aws.nodes.protocol import read_plan
from local_aws.nodes.specs import FileSystem

_CGROUPS = Path("/sys/fs/cgroup")
_AUTOFS = Path("/dev/autofs")  # without it, systemd has no automount units
# The file systems' path on nodes; the stubs of FSx's clients use it.
_FILE_SYSTEMS = "/run/simulated-fsx"


def main(folder: Path) -> None:
    """Hide the machine's /run and cgroups, build the VPC, and serve requests for ever."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    vpc, layers, cgroup = read_plan(folder)
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "hub", "/run")
    Path("/run/netns").mkdir()
    Path("/run/lock").mkdir()
    pods = PodSupport(layers, cgroup, folder) if vpc.api_server else None
    if pods:
        pods.mount_hierarchies()
    if not cgroups.is_mounted_at(_CGROUPS):
        run("mount", "-t", "cgroup2", "cgroup2", str(_CGROUPS))
    network, metadata = Network(vpc), imds.Metadata()
    network.build()
    names = dns.Names(vpc)
    dns.serve(names, vpc.resolver, dns.ADDRESS)
    imds.serve(metadata)
    binds = [_bind(name, system) for name, system in vpc.file_systems.items()]
    if _AUTOFS.exists():
        binds.append(str(_AUTOFS))
    if pods:
        pods.serve(vpc.api_server)
    hub = HubResources(layers, vpc, network, _CGROUPS / cgroup, folder / "log", tuple(binds), folder, pods)
    threading.Thread(target=_end_with_guardian, daemon=True).start()
    Server(hub, metadata, names).serve(folder)


def _end_with_guardian() -> None:
    """End, with all nodes, when the guardian closes the standard input or is gone."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(0)


def _bind(name: str, system: FileSystem) -> str:
    """Bind the file system for all nodes, with nosuid and nodev, because root on a node could create such files."""
    folder = str(system.folder)
    run("mount", "--bind", folder, folder)
    run("mount", "-o", "remount,bind,nosuid,nodev", folder)
    return f"{folder}:{_FILE_SYSTEMS}/{name}/{system.kind}/{system.mount_name}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
