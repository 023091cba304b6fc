"""What simulated nodes are made of: files, addresses, metadata and file systems."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HOST = "host"  # the mounts of a program on a node are the node's own


class NodesError(Exception):
    """Nodes cannot do what was asked; the text says why and what to do."""


@dataclass(frozen=True)
class NodeFile:
    """A file to lay on a node. ``owner`` is the name of a user of the node; its own group is the file's group."""

    content: bytes
    mode: int = 0o644
    owner: str = "root"


@dataclass(frozen=True)
class NodeSpec:
    """A node to boot."""

    id: str  # the instance's id; names of the node's cgroup, network namespace and machine derive from it
    hostname: str  # "ip-10-1-4-190"
    address: str
    metadata: Mapping[str, str] = field(default_factory=dict)  # "latest/meta-data/instance-id" -> text
    files: Mapping[str, NodeFile] = field(default_factory=dict)  # absolute path -> file, laid before systemd boots
    binds: tuple[str, ...] = ()  # systemd-nspawn's --bind: "SOURCE" or "SOURCE:TARGET"; binds follow the order given
    rank: int = 1  # of the nodes that wait for their turn to boot, the lowest goes first
    has_name: bool = True  # whether its host name resolves from the start, or once the hub is asked to `name` it
    disk_mib: int = 4096  # the size of the root volume; it lies in memory and takes only what is written


@dataclass(frozen=True)
class FileSystem:
    """An FSx file system. ``folder`` holds its contents and may be shared by several hubs."""

    address: str
    mount_name: str  # FSx for Lustre's mount name, or OpenZFS's volume path without the first slash
    folder: Path
    kind: str = "lustre"  # or "openzfs"


@dataclass(frozen=True)
class Vpc:
    """What a cluster's network gives its nodes."""

    region: str
    cidrs: tuple[str, ...]
    resolver: str  # the VPC's first address + 2
    file_systems: Mapping[str, FileSystem] = field(default_factory=dict)  # by the file system's DNS name
