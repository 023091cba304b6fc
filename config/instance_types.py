"""Look up instance types in the table from tools/instance_type_table.py."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "data" / "instance_types.json"

# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html: the format of a name.
TYPE_NAME = r"ml\.[a-z]{1,5}[1-9][0-9]?[a-z]*(-[a-z0-9]+)*\.(nano|micro|small|medium|large|([1-9][0-9]*)?xlarge)"
MOST_PODS = 49  # the highest number in AWS's table, also of types with 64 addresses
NVIDIA_GPUS, NEURON_DEVICES = "NVIDIA GPUs", "Neuron devices"


@dataclass(frozen=True)
class InstanceType:
    """An instance type as EC2 describes it; unpublished values are None."""

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
        """Return the cores of one socket, if the number of sockets is known."""
        return self.cores // self.sockets if self.sockets else None

    @property
    def pods(self) -> int:
        """Return how many pods a HyperPod node can run: one for each address of its only network interface except its own."""
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html: "Pods per instance type"
        return min(self.addresses_per_interface - 1, MOST_PODS)


@cache
def _lines() -> dict[str, str]:
    """Return the table's unparsed line for each type, as a synthesis needs only a few."""
    lines = (line.strip().rstrip(",") for line in TABLE.read_text(encoding="utf-8").splitlines())
    parts = (line.partition(": ") for line in lines if line.startswith('"ml.'))
    return {name.strip('"'): facts for name, _, facts in parts}


@cache
def instance_type(name: str) -> InstanceType | None:
    """Return the type, or None if its properties are unknown."""
    facts = json.loads(_lines().get(name, "null"))
    return InstanceType(**facts) if facts else None


def accelerator(name: str) -> str | None:
    """Return NVIDIA_GPUS, NEURON_DEVICES or None, by the family if the type's properties are unknown."""
    if known := instance_type(name):
        return NVIDIA_GPUS if known.gpus else NEURON_DEVICES if known.neuron_devices else None
    # https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html: what the letters of a family mean.
    family = re.match(r"ml\.(p|gr?|(?P<neuron>trn|inf))[1-9]", name)
    return None if family is None else NEURON_DEVICES if family["neuron"] else NVIDIA_GPUS


def listed_types() -> tuple[str, ...]:
    """Return the names of all types in the service model."""
    return tuple(_lines())


def is_listed(name: str) -> bool:
    """Return whether the service model has the type."""
    return name in _lines()


def is_plausible_type(name: str) -> bool:
    """Return whether this is a plausible type name, as HyperPod supports types newer than the pinned model.

    A known family with a size that no listed type has is treated as a typo, e.g. 23xlarge for 32xlarge.
    """
    if re.fullmatch(TYPE_NAME, name) is None:
        return False
    family, _, size = name.rpartition(".")
    families, sizes = _known_parts()
    return family not in families or size in sizes


@cache
def _known_parts() -> tuple[frozenset[str], frozenset[str]]:
    """Return the families and sizes of the listed types."""
    parts = [name.rpartition(".") for name in listed_types()]
    return frozenset(family for family, _, _ in parts), frozenset(size for _, _, size in parts)
