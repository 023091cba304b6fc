"""The messages on a hub's socket: a JSON line as request; output lines and a last line as response."""

import base64
import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

from local_aws.builds import relay
from local_aws.nodes.specs import FileSystem, NodeFile, NodeSpec, Vpc

Json = dict[str, object]
SOCKET, PLAN = "hub.sock", "hub.json"
READY = "ready"  # printed by the hub's process when it accepts requests


def connect(folder: Path) -> socket.socket:
    """Connect to the hub in ``folder``; raise OSError if none listens."""
    return relay.connect(folder, SOCKET)


def send(stream: IO[str], message: object) -> None:
    """Write a message."""
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def files_to_json(files: Mapping[str, NodeFile]) -> Json:
    """Return files as JSON."""
    return {
        path: {"content": base64.b64encode(file.content).decode(), "mode": file.mode, "owner": file.owner}
        for path, file in files.items()
    }


def spec_to_json(spec: NodeSpec) -> Json:
    """Return a node's spec as JSON."""
    return {
        "id": spec.id,
        "hostname": spec.hostname,
        "address": spec.address,
        "metadata": dict(spec.metadata),
        "files": files_to_json(spec.files),
        "binds": list(spec.binds),
        "rank": spec.rank,
        "has_name": spec.has_name,
        "disk_mib": spec.disk_mib,
        "links": dict(spec.links),
        "reaches_aws": spec.reaches_aws,
    }


def plan(vpc: Vpc, layers: Sequence[Path], cgroup: str) -> str:
    """Return the start parameters of the hub's process, as JSON."""
    systems = {name: asdict(system) | {"folder": str(system.folder.resolve())} for name, system in vpc.file_systems.items()}
    network = {"region": vpc.region, "cidrs": list(vpc.cidrs), "resolver": vpc.resolver, "file_systems": systems}
    network |= {"api_server": vpc.api_server, "control_plane": vpc.control_plane}
    return json.dumps({"vpc": network, "layers": [str(layer) for layer in layers], "cgroup": cgroup})


def read_plan(folder: Path) -> tuple[Vpc, tuple[Path, ...], str]:
    """Return the VPC, the image's layers and the cgroup name that `plan` wrote."""
    read = json.loads((folder / PLAN).read_text())
    vpc = read["vpc"]
    systems = {name: FileSystem(**system | {"folder": Path(system["folder"])}) for name, system in vpc["file_systems"].items()}
    return (
        Vpc(vpc["region"], tuple(vpc["cidrs"]), vpc["resolver"], systems, vpc["api_server"], vpc["control_plane"]),
        tuple(Path(layer) for layer in read["layers"]),
        read["cgroup"],
    )
