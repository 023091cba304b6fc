"""Check subnets and security groups, including those in `overrides`."""

import re
from collections.abc import Iterator

from config.errors import Level, Path, Problem
from config.instance_group import InstanceGroup, Role
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig
from validation.entries import numbered
from validation.patterns import corrected, fallback_fix, in_words
from validation.rules.overrides import items, member
from validation.rules.registry import rule

IN_THE_API = "[-0-9a-zA-Z]{1,32}"
FORMS = {"Subnets": r"^subnet-[0-9a-f]{8,17}$", "SecurityGroupIds": r"^sg-[0-9a-f]{8,17}$"}


def _ids(config: ClusterConfig) -> Iterator[tuple[Path, str, list[tuple[int, object]]]]:
    """Yield each list of subnets or security groups in `overrides`, with its path and kind."""
    networks: list[tuple[Path, object]] = [(("overrides", "VpcConfig"), config.overrides.get("VpcConfig"))]
    for index, group in numbered(config.instance_groups):
        path = ("instance_groups", index, "overrides", "OverrideVpcConfig")
        networks.append((path, group.overrides.get("OverrideVpcConfig")))
    for where, network in networks:
        yield from (((*where, kind), kind, list(items(network, kind))) for kind in FORMS)


@rule("vpc-resource-ids", "instance_groups[]", "overrides")
def vpc_resource_ids(config: ClusterConfig) -> Iterator[Problem]:
    """Subnets and security groups in `overrides` must be ids (`subnet-...`, `sg-...`).

    The API's pattern accepts any word, so a name or a swapped id fails only when the cluster is created.
    """
    for path, kind, entries in _ids(config):
        for at, value in entries:
            # The request check reports values that the API rejects.
            if isinstance(value, str) and re.fullmatch(IN_THE_API, value) and not re.fullmatch(FORMS[kind], value):
                better = corrected(value, FORMS[kind])
                fix = f"did you mean {better}?" if better else fallback_fix(FORMS[kind])
                yield Problem((*path, at), value, f"{in_words(FORMS[kind])}; {fix}")


@rule("duplicate-vpc-resource-ids", "instance_groups[]", "overrides", "network.existing", level=Level.WARNING)
def duplicate_vpc_resource_ids(config: ClusterConfig) -> Iterator[Problem]:
    """A list of subnets or security groups must not contain duplicates.

    A duplicate probably replaces another id, whose addresses are then missing.
    """
    lists = [(path, entries) for path, _, entries in _ids(config)]
    if config.network.existing:
        lists.append((("network", "existing", "node_subnet_ids"), list(enumerate(config.network.existing.node_subnet_ids))))
    for path, entries in lists:
        seen: list[object] = []
        for at, value in entries:
            if value in seen:
                yield Problem((*path, at), value, "duplicate; remove it, or replace it with the intended id")
            seen.append(value)


@rule("vpc-config-override", "overrides", "network.existing", level=Level.WARNING)
def vpc_config_override(config: ClusterConfig) -> Iterator[Problem]:
    """`overrides.VpcConfig` may only add security groups to those of `network`.

    The file system, its security group and the role's permissions belong to `network`: nodes elsewhere cannot reach or use them.
    """
    if config.overrides.get("VpcConfig") is not None and not _adds_groups(config):
        message = "the file system and the role belong to `network`; set subnets and security group in `network.existing` instead"
        yield Problem(("overrides", "VpcConfig"), config.overrides["VpcConfig"], message)


def _adds_groups(config: ClusterConfig) -> bool:
    """Return whether `overrides.VpcConfig` keeps the subnets and the security group of `network.existing`."""
    existing, given = config.network.existing, config.overrides["VpcConfig"]
    if existing is None:
        return False
    subnets = [subnet for _, subnet in items(given, "Subnets")] or list(existing.node_subnet_ids)
    groups = [group for _, group in items(given, "SecurityGroupIds")] or [existing.security_group_id]
    return sorted(map(str, subnets)) == sorted(existing.node_subnet_ids) and existing.security_group_id in groups


@rule("missing-vpc-config", "instance_groups", "overrides", "storage.lustre", "storage.existing", level=Level.WARNING)
def missing_vpc_config(config: ClusterConfig) -> Iterator[Problem]:
    """`VpcConfig` must not be null if a group has an `OverrideVpcConfig` or a file system is mounted.

    HyperPod rejects a group's network without the cluster's, and nodes outside the VPC cannot reach the file system.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    if "VpcConfig" not in config.overrides or config.overrides["VpcConfig"] is not None:
        return
    groups = [group.name for group in config.instance_groups if member(group.overrides, "OverrideVpcConfig")]
    storage = config.storage.lustre or config.storage.existing
    needing = [*(f"group {name}" for name in groups), *["the file system"] * bool(storage)]
    if needing:
        message = f"required by {', '.join(needing)}; remove this line"
        yield Problem(("overrides", "VpcConfig"), None, message)


@rule("efa-partition-subnets", "instance_groups", level=Level.WARNING)
def efa_partition_subnets(config: ClusterConfig) -> Iterator[Problem]:
    """Groups of one partition with EFA must use the same subnets.

    EFA traffic cannot cross availability zones: a job on nodes of both groups hangs or fails in its first collective call.
    """
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    first: dict[str, tuple[InstanceGroup, object]] = {}
    for index, group in enumerate(config.instance_groups):
        subnets = member(group.overrides, "OverrideVpcConfig", "Subnets")
        if group.role is not Role.COMPUTE or group.partition is None or not _has_efa(group):
            continue
        one, theirs = first.setdefault(group.partition, (group, subnets))
        if theirs != subnets:
            message = f"also used by group {one.name}, which is in other subnets; use another partition, or suppress this warning"
            yield Problem(("instance_groups", index, "partition"), group.partition, message)


def _has_efa(group: InstanceGroup) -> bool:
    return any(known.efa_interfaces for name in types_of_group(group) if (known := instance_type(name)))
