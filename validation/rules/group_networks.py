"""Rules about subnets and security groups, also those that `overrides` name."""

import re
from collections.abc import Iterator

from config.errors import Level, Path, Problem
from config.instance_group import InstanceGroup, Role
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig
from validation.entries import numbered
from validation.patterns import in_words, repaired, written
from validation.rules.registry import rule
from validation.rules.verbatim import items, member

IN_THE_API = "[-0-9a-zA-Z]{1,32}"
FORMS = {"Subnets": r"^subnet-[0-9a-f]{8,17}$", "SecurityGroupIds": r"^sg-[0-9a-f]{8,17}$"}


def _ids(config: ClusterConfig) -> Iterator[tuple[Path, str, list[tuple[int, object]]]]:
    """Each list of subnets or security groups in `overrides`, with its path and its kind."""
    networks: list[tuple[Path, object]] = [(("overrides", "VpcConfig"), config.overrides.get("VpcConfig"))]
    for index, group in numbered(config.instance_groups):
        path = ("instance_groups", index, "overrides", "OverrideVpcConfig")
        networks.append((path, group.overrides.get("OverrideVpcConfig")))
    for where, network in networks:
        yield from (((*where, kind), kind, list(items(network, kind))) for kind in FORMS)


@rule("ids-in-overrides", "instance_groups[]", "overrides")
def ids_in_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """Subnets and security groups in `overrides` are written as ids (`subnet-...`, `sg-...`).

    The API's own pattern takes any word: a name, or a security group among subnets, is found when the cluster is made.
    """
    for path, kind, entries in _ids(config):
        for at, value in entries:
            # What the API itself refuses is told already.
            if isinstance(value, str) and re.fullmatch(IN_THE_API, value) and not re.fullmatch(FORMS[kind], value):
                better = repaired(value, FORMS[kind])
                remedy = f"did you mean {better}?" if better else written(FORMS[kind])
                yield Problem((*path, at), value, f"{in_words(FORMS[kind])}; {remedy}")


@rule("subnets-and-groups-once", "instance_groups[]", "overrides", "network.existing", level=Level.WARNING)
def subnets_and_groups_once(config: ClusterConfig) -> Iterator[Problem]:
    """No subnet and no security group stands twice in one list.

    One of the two is probably another one's id: its addresses are counted on, and are not there.
    """
    lists = [(path, entries) for path, _, entries in _ids(config)]
    if config.network.existing:
        lists.append((("network", "existing", "node_subnet_ids"), list(enumerate(config.network.existing.node_subnet_ids))))
    for path, entries in lists:
        seen: list[object] = []
        for at, value in entries:
            if value in seen:
                yield Problem((*path, at), value, "stands twice; keep it once, or write the other one's id")
            seen.append(value)


@rule("vpc-of-the-file", "overrides", "network.existing", level=Level.WARNING)
def vpc_of_the_file(config: ClusterConfig) -> Iterator[Problem]:
    """The cluster's network is that of `network`; `overrides.VpcConfig` adds to its security group, and gives no other one.

    The file system, its security group and the role's permissions are those of `network`: the nodes would not reach the one, and
    not be let into the other.
    """
    if config.overrides.get("VpcConfig") is not None and not _adds_groups(config):
        message = "the file system and the role belong to `network`; name subnets and group in `network.existing` instead"
        yield Problem(("overrides", "VpcConfig"), config.overrides["VpcConfig"], message)


def _adds_groups(config: ClusterConfig) -> bool:
    """Tell whether `overrides.VpcConfig` has the subnets of `network.existing` and its security group, be it among others."""
    existing, given = config.network.existing, config.overrides["VpcConfig"]
    if existing is None:
        return False
    subnets = [subnet for _, subnet in items(given, "Subnets")] or list(existing.node_subnet_ids)
    groups = [group for _, group in items(given, "SecurityGroupIds")] or [existing.security_group_id]
    return sorted(map(str, subnets)) == sorted(existing.node_subnet_ids) and existing.security_group_id in groups


@rule("vpc-for-groups-and-storage", "instance_groups", "overrides", "storage.lustre", "storage.existing", level=Level.WARNING)
def vpc_for_groups_and_storage(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster keeps its `VpcConfig` where a group has an `OverrideVpcConfig`, or a file system is mounted.

    HyperPod refuses a group's network without the cluster's, and nodes outside of the VPC do not reach the file system.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    if "VpcConfig" not in config.overrides or config.overrides["VpcConfig"] is not None:
        return
    groups = [group.name for group in config.instance_groups if member(group.overrides, "OverrideVpcConfig")]
    storage = config.storage.lustre or config.storage.existing
    needing = [*(f"group {name}" for name in groups), *["the file system"] * bool(storage)]
    if needing:
        message = f"is needed by {', '.join(needing)}; remove this line"
        yield Problem(("overrides", "VpcConfig"), None, message)


@rule("efa-within-a-partition", "instance_groups", level=Level.WARNING)
def efa_within_a_partition(config: ClusterConfig) -> Iterator[Problem]:
    """The groups of one partition that have EFA are in the same subnets.

    EFA does not connect zones: a job that gets nodes of both groups hangs or fails in its first collective call.
    """
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    first: dict[str, tuple[InstanceGroup, object]] = {}
    for index, group in enumerate(config.instance_groups):
        subnets = member(group.overrides, "OverrideVpcConfig", "Subnets")
        if group.role is not Role.COMPUTE or group.partition is None or not _has_efa(group):
            continue
        one, theirs = first.setdefault(group.partition, (group, subnets))
        if theirs != subnets:
            message = f"is the partition of {one.name} too, which is in other subnets; give it another one, or silence this"
            yield Problem(("instance_groups", index, "partition"), group.partition, message)


def _has_efa(group: InstanceGroup) -> bool:
    return any(known.efa_interfaces for name in types_of_group(group) if (known := instance_type(name)))
