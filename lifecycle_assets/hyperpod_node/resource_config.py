"""The nodes of the cluster: HyperPod's resource_config.json."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import items, load_object, required

RESOURCE_CONFIG = Path(os.environ.get("SAGEMAKER_RESOURCE_CONFIG_PATH", "/opt/ml/config/resource_config.json"))


@dataclass(frozen=True)
class Instance:
    """One node, as HyperPod lists it."""

    name: str
    address: str
    instance_id: str
    group: str
    instance_type: str = ""  # empty if HyperPod lists none, for example for a group with several types

    @property
    def host(self) -> str:
        """Return the host name that EC2 derives from the address."""
        return f"ip-{self.address.replace('.', '-')}"


@dataclass(frozen=True)
class ResourceConfig:
    """The cluster's name and all its nodes."""

    path: Path
    cluster_name: str
    instances: tuple[Instance, ...]
    groups: tuple[str, ...] = ()  # also those without nodes

    @classmethod
    def load(cls, path: Path) -> ResourceConfig:
        """Return the cluster in the file that HyperPod wrote on this node."""
        content = load_object(path)
        cluster = required(content, "ClusterConfig", path)
        groups = [group for _, group in items(content, "InstanceGroups", path)]
        instances = tuple(instance for group in groups for instance in _instances(group, path))
        names = tuple(required(group, "Name", path) for group in groups)
        return cls(path, required(cluster, "ClusterName", path), instances, names)

    def hosts_of(self, group: str | None) -> frozenset[str]:
        """Return the host names of a group's nodes, which EC2 derives from their addresses."""
        return frozenset(instance.host for instance in self.instances if instance.group == group)

    def instance_with(self, addresses: list[str]) -> Instance:
        """Return the node that has one of ``addresses``."""
        for instance in self.instances:
            if instance.address in addresses:
                return instance
        seen = ", ".join(f"{i.name} {i.address}" for i in self.instances) or "no nodes"
        raise NodeError(f"none of this node's addresses {addresses} is in {self.path}, which lists {seen}")


def _instances(group: dict[str, Any], path: Path) -> list[Instance]:
    """Return the group's nodes. `Instances` may be null or absent for a group without nodes, as AWS's own scripts assume."""
    name = required(group, "Name", path)
    instances = group.get("Instances") or []
    if not isinstance(instances, list):
        raise NodeError(f"{path} has a {type(instances).__name__} at 'Instances' of group {name!r}, not a list")
    return [
        Instance(
            name=required(instance, "InstanceName", path),
            address=required(instance, "CustomerIpAddress", path),
            instance_id=required(instance, "InstanceId", path),
            group=name,
            instance_type=group.get("InstanceType") or "",
        )
        for instance in instances
    ]
