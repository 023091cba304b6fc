"""What goes over a hub's socket: one JSON line asks; any number of output lines and one last line answer."""

import base64
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from local_aws.nodes.specs import FileSystem, NodeFile, NodeSpec, Vpc

Json = dict[str, object]
SOCKET, PLAN = "hub.sock", "hub.json"
READY = "ready"  # the hub's process says so when it can be asked


@contextmanager
def socket_path(folder: Path) -> Iterator[str]:
    """A short path of the socket in ``folder``: the kernel takes 107 bytes at most, and folders can be longer."""
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}/{SOCKET}"
    finally:
        os.close(handle)


def connect(folder: Path) -> socket.socket:
    """Connect to the hub in ``folder``; raises OSError where none listens."""
    client = socket.socket(socket.AF_UNIX)
    try:
        with socket_path(folder) as path:
            client.connect(path)
    except OSError:
        client.close()
        raise
    return client


def send(stream: IO[str], message: object) -> None:
    """Write one message."""
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def files_to_json(files: Mapping[str, NodeFile]) -> Json:
    """Files as JSON."""
    return {
        path: {"content": base64.b64encode(file.content).decode(), "mode": file.mode, "owner": file.owner}
        for path, file in files.items()
    }


def spec_to_json(spec: NodeSpec) -> Json:
    """A node's spec as JSON."""
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
    }


def plan(vpc: Vpc, layers: Sequence[Path], cgroup: str) -> str:
    """What the hub's process is told at its start, as JSON."""
    systems = {name: asdict(system) | {"folder": str(system.folder.resolve())} for name, system in vpc.file_systems.items()}
    told = {"region": vpc.region, "cidrs": list(vpc.cidrs), "resolver": vpc.resolver, "file_systems": systems}
    return json.dumps({"vpc": told, "layers": [str(layer) for layer in layers], "cgroup": cgroup})


def read_plan(folder: Path) -> tuple[Vpc, tuple[Path, ...], str]:
    """The VPC, the image's layers and the name of the cgroup that `plan` wrote."""
    read = json.loads((folder / PLAN).read_text())
    vpc = read["vpc"]
    systems = {name: FileSystem(**system | {"folder": Path(system["folder"])}) for name, system in vpc["file_systems"].items()}
    return (
        Vpc(vpc["region"], tuple(vpc["cidrs"]), vpc["resolver"], systems),
        tuple(Path(layer) for layer in read["layers"]),
        read["cgroup"],
    )
