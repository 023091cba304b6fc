"""The CreateCluster request of a cluster file, whose members know their place in the file."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from cluster_request.request import RequestValues, cluster_request
from cluster_request.request_fields import group_fields, in_file, is_overridden
from config.errors import ABSENT, Path, Problem
from config.instance_group import InstanceGroup, Role, Taint
from config.instance_types import InstanceType, instance_type
from config.model import ClusterConfig, Orchestrator

EFA_ONLY = "efa-only"
"""The type of a network interface without an IP address."""
_VALUE = object()  # the member's own value


@dataclass(frozen=True)
class Member:
    """A member of the request, whose value is None if the request does not contain it."""

    value: object
    names: Path
    config: ClusterConfig

    def member(self, *names: str) -> "Member":
        """Return the member at these nested names; unexpected shapes are treated as missing."""
        value = self.value
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return Member(value, (*self.names, *names), self.config)

    def entries(self, *names: str) -> Iterator["Member"]:
        """Yield the entries of the list at these nested names."""
        whole = self.member(*names)
        values = whole.value if isinstance(whole.value, list) else []
        return (Member(value, (*whole.names, index), self.config) for index, value in enumerate(values))

    @property
    def text(self) -> str:
        """Return the value if it is text, or an empty text."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the list, or none for another value."""
        return tuple(each.text for each in self.entries())

    @property
    def number(self) -> int | None:
        """Return the value if it is a whole number, or None."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    @property
    def is_given(self) -> bool:
        """Return whether the request contains the member."""
        return self.value is not None

    @property
    def is_overridden(self) -> bool:
        """Return whether `overrides` set or remove the member."""
        return is_overridden(self.config, self.names)

    @property
    def path(self) -> Path:
        """Return the place in the file: the field that sets the member, or `overrides`."""
        return in_file(self.config, self.names)

    def problem(self, message: str, fix: str = "", value: object = _VALUE) -> Problem:
        """Return a problem with the member's value, or with ``value``."""
        own = self.value if self.is_given else ABSENT
        return Problem(self.path, own if value is _VALUE else value, message, fix)


@dataclass(frozen=True)
class Group(Member):
    """An instance group of the request, of either kind."""

    @property
    def name(self) -> str:
        """Return the group's name."""
        return self.member("InstanceGroupName").text

    @property
    def count(self) -> int:
        """Return the requested number of nodes."""
        return self.member("InstanceCount").number or 0

    @property
    def types(self) -> tuple[str, ...]:
        """Return the names of the types that the group's nodes can have, in the order of the request."""
        return tuple(dict.fromkeys(each.text for each in self.instance_types()))

    @property
    def is_spot(self) -> bool:
        """Return whether the group requests Spot capacity."""
        return self.member("CapacityRequirements", "Spot").is_given

    @property
    def training_plan(self) -> str:
        """Return the ARN of the group's training plan; empty without."""
        return self.member("TrainingPlanArn").text

    @property
    def has_own_network(self) -> bool:
        """Return whether the group has subnets or security groups of its own."""
        return bool(self.member("OverrideVpcConfig").value)

    @property
    def subnets(self) -> tuple[str, ...]:
        """Return the group's own subnets; empty if it has those of the cluster."""
        return self.member("OverrideVpcConfig", "Subnets").texts

    @property
    def security_groups(self) -> tuple[str, ...]:
        """Return the group's own security groups; empty if it has those of the cluster."""
        return self.member("OverrideVpcConfig", "SecurityGroupIds").texts

    @property
    def volumes(self) -> Iterator[Member]:
        """Yield the EBS volumes; one without a size sets the key of the root volume."""
        volumes = (each.member("EbsVolumeConfig") for each in self.entries("InstanceStorageConfigs"))
        return (each for each in volumes if each.is_given)

    @property
    def has_efa(self) -> bool:
        """Return whether one of the types is known to have EFA."""
        return any(known.efa_interfaces for known in self.known_types().values())

    @property
    def is_efa_only(self) -> bool:
        """Return whether only the first interface of a node has an IP address."""
        return self.member("NetworkInterface", "InterfaceType").text == EFA_ONLY

    def instance_types(self) -> Iterator[Member]:
        """Yield the types that the group's nodes can have."""
        types = (self.member("InstanceType"), *self.entries("InstanceRequirements", "InstanceTypes"))
        return (each for each in types if each.text)

    def type_names(self) -> list[str]:
        """Return the names of these types, sorted and without duplicates."""
        return sorted(self.types)

    def known_types(self) -> dict[str, InstanceType]:
        """Return the properties of these types by name, without unknown types."""
        return {name: known for name in self.types if (known := instance_type(name))}


@dataclass(frozen=True)
class GroupMember(Group):
    """An instance group of the request, with its group in the file."""

    group: InstanceGroup

    def sets(self, name: str) -> bool:
        """Return whether a field or `overrides` set the member; otherwise, the deployment chooses its value."""
        field = group_fields().get(name)
        return name in self.group.overrides or (field is not None and getattr(self.group, field) is not None)

    def taints(self) -> Iterator[tuple[Member, Taint]]:
        """Yield the taints of the group's nodes, without those that SageMaker would reject."""
        for each in self.entries("KubernetesConfig", "Taints"):
            value = each.value if isinstance(each.value, Mapping) else {}
            with suppress(ValidationError):
                yield each, Taint.model_validate({str(name).lower(): item for name, item in value.items() if item})


class EffectiveRequest:
    """The request that a deployment makes: fields and `overrides` merged, with sample values for what a deployment creates."""

    def __init__(self, config: ClusterConfig) -> None:
        self.config = config

    @cached_property
    def _root(self) -> Member:
        return Member(cluster_request(self.config, values=RequestValues.samples(self.config)), (), self.config)

    def member(self, *names: str) -> Member:
        """Return the member of the cluster at these nested names."""
        return self._root.member(*names)

    def entries(self, *names: str) -> Iterator[Member]:
        """Yield the entries of the cluster's list at these nested names."""
        return self._root.entries(*names)

    @cached_property
    def groups(self) -> tuple[GroupMember, ...]:
        """Return the instance groups."""
        found = zip(self.entries("InstanceGroups"), self.config.instance_groups, strict=True)
        return tuple(GroupMember(each.value, each.names, self.config, group) for each, group in found)

    @cached_property
    def all_groups(self) -> tuple[Group, ...]:
        """Return the instance groups, then the restricted ones, which only `overrides` can set."""
        restricted = (Group(each.value, each.names, self.config) for each in self.entries("RestrictedInstanceGroups"))
        return (*self.groups, *restricted)

    @property
    def node_subnets(self) -> tuple[str, ...]:
        """Return the subnets of all nodes in the file; empty if the deployment creates theirs."""
        return self._of_network("Subnets")

    @property
    def node_security_groups(self) -> tuple[str, ...]:
        """Return the security groups of all nodes in the file; empty if the deployment creates theirs."""
        return self._of_network("SecurityGroupIds")

    def _of_network(self, name: str) -> tuple[str, ...]:
        named = self.member("VpcConfig", name)
        return named.texts if named.is_overridden or self.config.network.existing else ()

    def of_role(self, role: Role) -> list[GroupMember]:
        """Return the groups with this role."""
        return [each for each in self.groups if each.group.role is role]

    def type_names(self) -> tuple[str, ...]:
        """Return the instance types of all groups, sorted and without duplicates."""
        return tuple(sorted({name for group in self.groups for name in group.type_names()}))

    @property
    def orchestrator(self) -> Orchestrator:
        """Return the orchestrator that the request names, or the file's."""
        return Orchestrator.EKS if self.member("Orchestrator", "Eks").is_given else self.config.orchestrator
