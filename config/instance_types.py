"""What is known of the instance types that HyperPod takes, from a table made by tools/instance_type_table.py."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from config import errors
from config.instance_group import InstanceGroup
from config.model import ClusterConfig

TABLE = Path(__file__).parent / "data" / "instance_types.json"

# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html: what a name is made of.
NAME_OF_A_TYPE = r"ml\.[a-z]{1,5}[1-9][0-9]?[a-z]*(-[a-z0-9]+)*\.(nano|micro|small|medium|large|([1-9][0-9]*)?xlarge)"


@dataclass(frozen=True)
class InstanceType:
    """One type as EC2 describes it; what nobody published is None."""

    architecture: str
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

    @property
    def is_accelerated(self) -> bool:
        """Whether it carries GPUs or Neuron devices."""
        return self.gpus + self.neuron_devices > 0


@cache
def _lines() -> dict[str, str]:
    """The table's line of each type, unread: a synthesis needs three of two hundred."""
    lines = (line.strip().rstrip(",") for line in TABLE.read_text(encoding="utf-8").splitlines())
    parts = (line.partition(": ") for line in lines if line.startswith('"ml.'))
    return {name.strip('"'): facts for name, _, facts in parts}


@cache
def instance_type(name: str) -> InstanceType | None:
    """The type of this name; None where the table does not know it, or knows nothing but the name."""
    facts = json.loads(_lines().get(name, "null"))
    return InstanceType(**facts) if facts else None


def listed_types() -> tuple[str, ...]:
    """The names of all types that HyperPod takes, by the service model that the table was made of."""
    return tuple(_lines())


def is_listed(name: str) -> bool:
    """Tell whether the type is one of these."""
    return name in _lines()


def could_be_a_type(name: str) -> bool:
    """Tell whether a type could have this name: HyperPod takes new ones without asking which model is pinned here.

    A known family with a size that no listed type has is taken for a slip of the finger, as 23xlarge for 32xlarge.
    """
    if re.fullmatch(NAME_OF_A_TYPE, name) is None:
        return False
    family, _, size = name.rpartition(".")
    families, sizes = _known_parts()
    return family not in families or size in sizes


@cache
def _known_parts() -> tuple[frozenset[str], frozenset[str]]:
    """The families and the sizes of the listed types."""
    parts = [name.rpartition(".") for name in listed_types()]
    return frozenset(family for family, _, _ in parts), frozenset(size for _, _, size in parts)


def types_of(config: ClusterConfig) -> tuple[str, ...]:
    """The types that the cluster's groups start with, each once, whatever their order in the file."""
    return tuple(sorted({name for group in config.instance_groups for name in types_of_group(group)}))


def types_of_group(group: InstanceGroup) -> set[str]:
    """The types that the group's nodes can have."""
    return {name for _, name in placed_types(group)}


def placed_types(group: InstanceGroup) -> Iterator[tuple[errors.Path, str]]:
    """The same types, each with where in the group it is named: with `InstanceType: null`, the field is not used."""
    given = group.overrides.get("InstanceType", group.instance_type)
    if isinstance(given, str):
        yield (("overrides", "InstanceType") if "InstanceType" in group.overrides else ("instance_type",)), given
    requirements = group.overrides.get("InstanceRequirements")
    mixed = requirements.get("InstanceTypes") if isinstance(requirements, Mapping) else None
    for index, name in enumerate(mixed if isinstance(mixed, list) else []):
        if isinstance(name, str):
            yield ("overrides", "InstanceRequirements", "InstanceTypes", index), name
