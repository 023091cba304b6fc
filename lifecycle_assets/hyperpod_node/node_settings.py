"""The node settings of the cluster file that HyperPod's own file does not have: node_settings.json, beside the scripts."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import items, load_object, members, required

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
LOCAL, EXTERNAL, MANAGED, NONE = "local", "external", "managed", "none"
SLURM, EKS = "slurm", "eks"
SCRIPTS, API = "scripts", "api"
LDAP, ACTIVE_DIRECTORY = "ldap", "active_directory"
ADMINISTRATORS, ALL = "administrators", "all"
Part = TypeVar("Part", "Group", "User", "Accounting", "Slurm", "Partition", "InstanceType", "Directory", "Follow")


@dataclass(frozen=True)
class Group:
    """A POSIX group with a fixed gid."""

    name: str
    gid: int


@dataclass(frozen=True)
class User:
    """A POSIX user with a fixed uid, whose primary group has the user's name and the user's uid as its gid."""

    name: str
    uid: int
    groups: tuple[str, ...]
    ssh_public_keys: tuple[str, ...]
    sudo: bool


@dataclass(frozen=True)
class Accounting:
    """Slurm's accounting database: ``local`` (on the controller), ``external``, ``managed`` (by HyperPod) or ``none``."""

    database: str
    host: str | None
    port: int
    secret_arn: str | None
    authorities: str | None = None
    """The certificate authorities of a database in RDS, in PEM."""


@dataclass(frozen=True)
class Partition:
    """A partition; ``groups`` is None for the nodes that the agent gives it, and ``options`` are Slurm's keys."""

    name: str
    groups: tuple[str, ...] | None
    options: dict[str, str]


@dataclass(frozen=True)
class Slurm:
    """The Slurm settings that HyperPod does not write to slurm.conf; ``setup``: what configured Slurm before these scripts."""

    state_folder: str | None
    prolog_and_epilog: bool
    restrict_ssh: bool
    topology: str | None
    setup: str
    settings: dict[str, str]
    partitions: tuple[Partition, ...]
    metadata_access: str = ADMINISTRATORS


@dataclass(frozen=True)
class InstanceType:
    """The hardware of an instance type; unknown values are None. ``efa``: the type supports Lustre over EFA."""

    sockets: int | None
    cores_per_socket: int | None
    gpus: int
    gpu: str | None
    efa: bool
    threads_per_core: int | None = None  # this and the memory for Slurm: only from the nodes' own reports
    real_memory_mib: int | None = None


@dataclass(frozen=True)
class Directory:
    """A directory with users: Active Directory or another LDAP server."""

    type: str
    uris: tuple[str, ...]
    search_base: str
    bind_dn: str
    secret_arn: str
    ca_certificates: str | None
    access_filter: str | None
    allowed_groups: tuple[str, ...]
    sudo_groups: tuple[str, ...]
    home_directory: str | None
    shell: str
    ssh_public_key_attribute: str | None
    ssh_passwords: bool
    id_mapping: bool
    min_id: int
    max_id: int | None
    options: dict[str, str]

    @property
    def administrators(self) -> tuple[str, ...]:
        """Return ``sudo_groups`` as lookups name them: SSSD lowers Active Directory's names."""
        return tuple(name.lower() for name in self.sudo_groups) if self.type == ACTIVE_DIRECTORY else self.sudo_groups


@dataclass(frozen=True)
class Follow:
    """Where running nodes find the pointer to the cluster's bundle, and where they report."""

    parameter: str
    log_group: str
    bucket: str = "*"
    """The bucket of the bundles, with a star for an account or a region that the file does not name."""


@dataclass(frozen=True)
class NodeSettings:
    """The cluster file's settings for a node."""

    path: Path
    groups: tuple[Group, ...]
    users: tuple[User, ...]
    homes: Path
    accounting: Accounting
    slurm: Slurm
    instance_types: dict[str, InstanceType]
    message_of_the_day: str | None
    directory: Directory | None = None
    follow: Follow | None = None

    @classmethod
    def load(cls, path: Path) -> NodeSettings:
        """Return the settings in the file that the deployment puts beside the scripts."""
        content = load_object(path)
        _check_version(content, path)
        return cls(
            path=path,
            groups=tuple(_read(Group, group, place) for place, group in items(content, "groups", path)),
            users=tuple(_read(User, user, place, ("groups", "ssh_public_keys")) for place, user in items(content, "users", path)),
            homes=Path(required(content, "homes", path)),
            accounting=_read(Accounting, required(content, "accounting", path), f"{path}, accounting,"),
            slurm=_slurm(required(content, "slurm", path), f"{path}, slurm,"),
            instance_types={
                name: _read(InstanceType, known, place) for name, place, known in members(content, "instance_types", path)
            },
            message_of_the_day=required(content, "message_of_the_day", path),
            directory=_directory(required(content, "directory", path), f"{path}, directory,"),
            follow=_read(Follow, content["follow"], f"{path}, follow,") if content.get("follow") else None,
        )


def orchestrator_of(path: Path) -> str:
    """Return the cluster's orchestrator: Slurm unless the file names another; with Amazon EKS, it has nothing else."""
    content = load_object(path) if path.exists() else {}
    orchestrator = str(content.get("orchestrator", SLURM))
    if orchestrator not in {SLURM, EKS}:
        raise NodeError(f"{path} has orchestrator {orchestrator!r}; these scripts support {SLURM} and {EKS}")
    if orchestrator == EKS:
        _check_version(content, path)
    return orchestrator


def _check_version(content: dict[str, Any], path: Path) -> None:
    if required(content, "version", path) != VERSION:
        raise NodeError(f"{path} has version {content['version']!r}; these scripts support version {VERSION}")


def _read(kind: type[Part], content: dict[str, Any], place: str, lists: Iterable[str] = ()) -> Part:
    """Return an object of the file; ignore keys that are not fields of ``kind``."""
    frozen: dict[str, Any] = {key: tuple(value for _, value in items(content, key, place)) for key in lists}
    names = (name for name, field in kind.__dataclass_fields__.items() if field.default is MISSING or name in content)
    return kind(**{name: frozen[name] if name in frozen else required(content, name, place) for name in names})


def _slurm(content: dict[str, Any], place: str) -> Slurm:
    partitions = (_read(Partition, partition, where) for where, partition in items(content, "partitions", place))
    frozen = tuple(replace(each, groups=None if each.groups is None else tuple(each.groups)) for each in partitions)
    return _read(Slurm, {**content, "partitions": frozen}, place)


def _directory(content: dict[str, Any] | None, place: str) -> Directory | None:
    return None if content is None else _read(Directory, content, place, ("uris", "allowed_groups", "sudo_groups"))
