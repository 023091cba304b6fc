"""The parts of simulated nodes: files, addresses, metadata and file systems."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENDPOINT_PORT = 4566  # of the embedded AWS, on each node's own loopback address
HOST = "host"  # the mounts of a program on a node are the node's own


@dataclass(frozen=True)
class NodeFile:
    """A file for a node. ``owner`` is the name of a user of the node; the file's group is the owner's."""

    content: bytes
    mode: int = 0o644
    owner: str = "root"


@dataclass(frozen=True)
class NodeSpec:
    """A node to boot."""

    id: str  # the instance's id, from which the node's cgroup, network namespace and machine name derive
    hostname: str  # "ip-10-1-4-190"
    address: str
    metadata: Mapping[str, str] = field(default_factory=dict)  # "latest/meta-data/instance-id" -> text
    files: Mapping[str, NodeFile] = field(default_factory=dict)  # absolute path -> file, written before systemd boots
    binds: tuple[str, ...] = ()  # systemd-nspawn's --bind: "SOURCE" or "SOURCE:TARGET"; binds follow the order given
    rank: int = 1  # priority at boot; the lowest goes first
    has_name: bool = True  # whether its host name resolves from the start, or only after the hub's `name`
    disk_mib: int = 4096  # size of the root volume; it is in memory and uses only what is written
    links: Mapping[str, str] = field(default_factory=dict)  # a folder of the image that is a link -> the link's target
    reaches_aws: bool = False  # whether the embedded AWS listens on its loopback address


@dataclass(frozen=True)
class FileSystem:
    """An FSx file system. ``folder`` holds its contents and may be shared by several hubs."""

    address: str
    mount_name: str  # FSx for Lustre's mount name, or OpenZFS's volume path without the first slash
    folder: Path
    kind: str = "lustre"  # or "openzfs"


@dataclass(frozen=True)
class Vpc:
    """A cluster's network for its nodes."""

    region: str
    cidrs: tuple[str, ...]
    resolver: str  # the VPC's first address + 2
    file_systems: Mapping[str, FileSystem] = field(default_factory=dict)  # by the file system's DNS name
    api_server: str = ""  # the address of the API server of an EKS cluster; its nodes run pods
    control_plane: str = ""  # its URL on this machine
