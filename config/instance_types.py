"""What is known of the instance types that HyperPod takes, from a table made by tools/instance_type_table.py."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from config.instance_group import InstanceGroup
from config.model import ClusterConfig

TABLE = Path(__file__).parent / "data" / "instance_types.json"


@dataclass(frozen=True)
class InstanceType:
    """One type as EC2 describes it; what nobody published is None."""

    vcpus: int
    cores: int
    threads_per_core: int
    sockets: int | None
    memory_mib: int
    gpus: int
    gpu: str | None
    gpu_memory_mib: int | None
    neuron_devices: int
    neuron_device: str | None
    neuron_device_memory_mib: int | None
    efa_interfaces: int
    network_cards: int
    network_interfaces: int
    addresses_per_interface: int
    nvme_disks: int
    nvme_disk_gb: int | None

    @property
    def cores_per_socket(self) -> int | None:
        """The cores of one socket, where the sockets are known."""
        return self.cores // self.sockets if self.sockets else None


@cache
def _lines() -> dict[str, str]:
    """The table's line of each type, unread: a synthesis needs three of two hundred."""
    lines = (line.strip().rstrip(",") for line in TABLE.read_text(encoding="utf-8").splitlines())
    parts = (line.partition(": ") for line in lines if line.startswith('"ml.'))
    return {name.strip('"'): facts for name, _, facts in parts}


def instance_type(name: str) -> InstanceType | None:
    """The type of this name; None where the table does not know it, or knows nothing but the name."""
    facts = json.loads(_lines().get(name, "null"))
    return InstanceType(**facts) if facts else None


def types_of(config: ClusterConfig) -> tuple[str, ...]:
    """The types that the cluster's groups start with, each once, whatever their order in the file."""
    return tuple(sorted({name for group in config.instance_groups for name in types_of_group(group)}))


def types_of_group(group: InstanceGroup) -> set[str]:
    """The types that the group's nodes can have."""
    mixed = group.overrides.get("InstanceRequirements") or {}
    return {group.overrides.get("InstanceType") or group.instance_type, *mixed.get("InstanceTypes", ())}
