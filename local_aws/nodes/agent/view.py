"""A snapshot of a cluster for HyperPod's agent: its members, and the resources of its instance types."""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

from local_aws.hyperpod.model import Cluster, instance_type, lock
from local_aws.json_service import Json
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.resource_config import resource_config


@dataclass(frozen=True)
class Member:
    """A node of the cluster."""

    group: str
    name: str  # "compute-nodes-1"
    id: str
    address: str

    @property
    def hostname(self) -> str:
        """Return the name of the node's own system."""
        return hostname(self.address)


@dataclass(frozen=True)
class Shape:
    """The resources of an instance type for Slurm, and its number of GPUs."""

    cpus: int
    memory_mib: int
    gpus: int = 0
    threads: int = 1  # of a core

    @property
    def as_slurmd_prints(self) -> str:
        """Return the output of `slurmd -C`; EC2 does not tell sockets, and machines with 48 cores or more mostly have two."""
        cores = self.cpus // self.threads
        sockets = 2 if cores >= 48 and cores % 2 == 0 else 1
        processors = f"CPUs={self.cpus} Boards=1 SocketsPerBoard={sockets} CoresPerSocket={cores // sockets}"
        return f"{processors} ThreadsPerCore={self.threads} RealMemory={self.memory_mib}"


@dataclass(frozen=True)
class ClusterView:
    """A snapshot of the cluster's nodes. Two views are equal if the agent has nothing to rewrite."""

    name: str
    resource_config: str  # the file's text
    members: tuple[Member, ...]
    shapes: Mapping[str, Shape]  # by group
    listed: frozenset[str] | None = None  # addresses of the nodes with a line in slurm.conf; None if all have one

    @classmethod
    def of(cls, cluster: Cluster, behaviour: Behaviour, listed: Set[str] | None = None) -> "ClusterView":
        """Return the cluster's current view; only the nodes in ``listed`` are in slurm.conf."""
        with lock:
            config, of_groups = resource_config(cluster, behaviour), specs(cluster)
        shapes = {name: shape(instance_type(spec), spec.get("ThreadsPerCore")) for name, spec in of_groups.items()}
        members = _members(config)
        in_slurm = None if listed is None else frozenset(member.address for member in members if member.address in listed)
        _mark_empty(config, behaviour.empty_instances)
        return cls(cluster.name, json.dumps(config, indent=1) + "\n", members, shapes, in_slurm)

    def members_of(self, group: str) -> list[Member]:
        """Return the nodes of a group."""
        return [member for member in self.members if member.group == group]

    def listed_of(self, group: str) -> list[Member]:
        """Return the group's nodes that have a line in slurm.conf."""
        return [member for member in self.members_of(group) if self.listed is None or member.address in self.listed]


def specs(cluster: Cluster) -> dict[str, Json]:
    """Return the specifications of the cluster's groups by name."""
    with lock:
        return {group.name: group.spec for group in cluster.groups.values()}


def hostname(address: str) -> str:
    """Return the host name that EC2 derives from an address."""
    return f"ip-{address.replace('.', '-')}"


def _members(config: Json) -> tuple[Member, ...]:
    return tuple(
        Member(group["Name"], one["InstanceName"], one["InstanceId"], one["CustomerIpAddress"])
        for group in config["InstanceGroups"]
        for one in group["Instances"]
    )


def _mark_empty(config: Json, how: str) -> None:
    """Write `Instances` of groups without nodes as null, or not at all."""
    for group in config["InstanceGroups"]:
        if not group["Instances"] and how == "null":
            group["Instances"] = None
        elif not group["Instances"] and how == "absent":
            del group["Instances"]


def shape(type_name: str, threads_per_core: int | None = None) -> Shape:
    """Return an instance type's resources from moto's copy of EC2's DescribeInstanceTypes; one CPU for unknown types."""
    facts = _instance_types().get(type_name.removeprefix("ml."), {})
    processor = facts.get("VCpuInfo", {})
    cores = int(processor.get("DefaultCores", 1))
    threads = threads_per_core or int(processor.get("DefaultThreadsPerCore", 1))
    memory = int(facts.get("MemoryInfo", {}).get("SizeInMiB", 1024))
    gpus = sum(int(gpu["Count"]) for gpu in (facts.get("GpuInfo") or {}).get("Gpus", []))
    return Shape(cores * threads, memory * 95 // 100, gpus, threads)  # the firmware and the kernel use the rest


@cache
def _instance_types() -> dict[str, Any]:
    from moto.ec2.models.instance_types import INSTANCE_TYPES  # noqa: PLC0415  moto is loaded once the environment is set

    types: dict[str, Any] = INSTANCE_TYPES
    return types
