"""The role of each group in the Slurm cluster: provisioning_parameters.json, beside the scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object, required

if TYPE_CHECKING:
    from pathlib import Path

CONTROLLER, LOGIN, COMPUTE = "controller", "login", "compute"


@dataclass(frozen=True)
class ProvisioningParameters:
    """The roles of the groups, the partitions of the workers, and the file system."""

    path: Path
    controller_group: str
    login_group: str | None
    partitions: dict[str, str]
    fsx_dns_name: str | None
    fsx_mountname: str | None
    fsx_openzfs_dns_name: str | None

    @classmethod
    def load(cls, path: Path) -> ProvisioningParameters:
        """Return the parameters in the file that the deployment puts beside the scripts."""
        content = load_object(path)
        workers = required(content, "worker_groups", path)
        return cls(
            path=path,
            controller_group=required(content, "controller_group", path),
            login_group=content.get("login_group"),
            partitions={required(w, "instance_group_name", path): required(w, "partition_name", path) for w in workers},
            fsx_dns_name=content.get("fsx_dns_name"),
            fsx_mountname=content.get("fsx_mountname"),
            fsx_openzfs_dns_name=content.get("fsx_openzfs_dns_name"),
        )

    @property
    def groups(self) -> list[str]:
        """Return the names of all groups."""
        return [self.controller_group, *([self.login_group] if self.login_group else []), *self.partitions]

    def role_of(self, group: str) -> str:
        """Return the role of the nodes of ``group``: controller, login or compute."""
        if group == self.controller_group:
            return CONTROLLER
        if group == self.login_group:
            return LOGIN
        if group in self.partitions:
            return COMPUTE
        raise NodeError(f"{self.path} has no role for group {group!r}; it has {self.groups}")
