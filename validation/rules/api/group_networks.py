"""Check subnets and security groups, including those in `overrides`."""

import re
from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest, GroupMember, Member
from config.entries import numbered
from config.errors import Level, Path, Problem
from config.model import ClusterConfig, slurm_of
from validation.patterns import corrected, fallback_fix, in_words
from validation.rules.registry import FILE_SYSTEMS, eks_request_rule, request_rule, slurm_request_rule

IN_THE_API = "[-0-9a-zA-Z]{1,32}"
MOUNTS = ("FsxLustreConfig", "FsxOpenZfsConfig")
FORMS = {"Subnets": r"^subnet-[0-9a-f]{8,17}$", "SecurityGroupIds": r"^sg-[0-9a-f]{8,17}$"}


def _lists(request: EffectiveRequest) -> Iterator[tuple[str, Member]]:
    """Yield each list of subnets or security groups with its kind."""
    networks = [request.member("VpcConfig"), *(group.member("OverrideVpcConfig") for group in request.all_groups)]
    return ((kind, network.member(kind)) for network in networks for kind in FORMS)


@request_rule("vpc-resource-ids", "instance_groups[]", "overrides")
def vpc_resource_ids(request: EffectiveRequest) -> Iterator[Problem]:
    """Subnets and security groups must be ids (`subnet-...`, `sg-...`).

    The API's pattern accepts any word, so a name or a swapped id fails only when the cluster is created.
    """
    for kind, listed in _lists(request):
        for each in listed.entries():
            # The request check reports values that the API rejects.
            if re.fullmatch(IN_THE_API, each.text) and not re.fullmatch(FORMS[kind], each.text):
                better = corrected(each.text, FORMS[kind])
                fix = f"did you mean {better}?" if better else fallback_fix(FORMS[kind]) or ""
                yield each.problem(in_words(FORMS[kind]), fix)


@request_rule("duplicate-vpc-resource-ids", "instance_groups[]", "overrides", "network.existing", level=Level.WARNING)
def duplicate_vpc_resource_ids(request: EffectiveRequest) -> Iterator[Problem]:
    """A list of subnets or security groups must not contain duplicates.

    A duplicate probably replaces another id, whose addresses are then missing.
    """
    for _, listed in _lists(request):
        seen: list[object] = []
        for each in listed.entries():
            if each.value in seen:
                yield each.problem("duplicate", "remove it, or replace it with the intended id")
            seen.append(each.value)


@request_rule("vpc-config-override", "overrides", "network.existing", level=Level.WARNING)
def vpc_config_override(request: EffectiveRequest) -> Iterator[Problem]:
    """`overrides.VpcConfig` may only add security groups to those of `network`.

    The file system, its security group and the role's permissions belong to `network`: nodes elsewhere cannot reach or use them.
    """
    network = request.member("VpcConfig")
    if network.is_given and network.is_overridden and not _adds_groups(request):
        fix = "set subnets and security group in `network.existing` instead"
        yield network.problem("the file system and the role belong to `network`", fix, request.config.overrides["VpcConfig"])


def _adds_groups(request: EffectiveRequest) -> bool:
    """Return whether `overrides.VpcConfig` keeps the subnets and the security group of `network.existing`."""
    existing = request.config.network.existing
    if existing is None:
        return False
    subnets, groups = ([each.text for each in request.entries("VpcConfig", kind)] for kind in ("Subnets", "SecurityGroupIds"))
    return sorted(subnets) == sorted(existing.node_subnet_ids) and existing.security_group_id in groups


@request_rule("resources-of-another-network", "instance_groups[]", "overrides", "network.existing", level=Level.WARNING)
def resources_of_another_network(request: EffectiveRequest) -> Iterator[Problem]:
    """Beside a new network, `overrides` should not name existing subnets, security groups or file systems for a group.

    In another VPC, nodes never join the cluster, and nodes of the new VPC cannot mount the file system.
    """
    if request.config.network.existing is not None or request.member("VpcConfig").is_overridden:
        return
    fix = "set `network.existing` before the first deployment, or suppress this if the VPC reaches it"
    for group in request.all_groups:
        mounts = (each.member(kind) for each in group.entries("InstanceStorageConfigs") for kind in MOUNTS)
        for member in (group.member("OverrideVpcConfig"), *mounts):
            if member.value and member.is_overridden:
                yield member.problem("not in a new network", fix)


@eks_request_rule("restricted-group-role", "overrides", "network.existing", level=Level.WARNING)
def restricted_group_role(request: EffectiveRequest) -> Iterator[Problem]:
    """Beside a new network, the `ExecutionRole` of a restricted group should be one that may use it.

    The role exists before the deployment, which does not change it, and may be limited to the network of another cluster.
    """
    for group in request.entries("RestrictedInstanceGroups"):
        role = group.member("ExecutionRole")
        if request.config.network.existing is None and role.text:
            yield role.problem("must allow the nodes to use the new network", "check its policies, then suppress this warning")


@request_rule("missing-vpc-config", "instance_groups", "overrides", *FILE_SYSTEMS, level=Level.WARNING)
def missing_vpc_config(request: EffectiveRequest) -> Iterator[Problem]:
    """`VpcConfig` must not be null if a group has an `OverrideVpcConfig` or a file system is mounted.

    HyperPod rejects a group's network without the cluster's, and nodes outside the VPC cannot reach the file system.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    network = request.member("VpcConfig")
    if network.is_given:
        return
    groups = [f"group {group.name}" for group in request.groups if group.member("OverrideVpcConfig").value]
    needing = [*groups, *["the file system"] * bool(request.config.storage.file_systems)]
    if needing:
        yield network.problem(f"required by {', '.join(needing)}", "remove this line", None)


@slurm_request_rule("efa-partition-subnets", "instance_groups", "slurm.partitions", "overrides", level=Level.WARNING)
def efa_partition_subnets(request: EffectiveRequest) -> Iterator[Problem]:
    """Groups of one partition with EFA must use the same subnets.

    EFA traffic cannot cross subnets: a job on nodes of both groups hangs or fails in its first collective call.
    """
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    with_efa = {group.name: group for group in request.groups if group.has_efa}
    for partition, members in request.config.partition_groups().items():
        groups = [with_efa[each.name] for each in members if each.name in with_efa]
        for group in groups[1:]:
            if _subnets(group, request) != _subnets(groups[0], request):
                message = f"{groups[0].name} and {group.name} are in different subnets, which EFA cannot cross"
                yield _in_partition(group, partition, request.config, message)


def _subnets(group: GroupMember, request: EffectiveRequest) -> list[str]:
    """Return the group's own subnets, or the cluster's; none for the subnet that the deployment creates."""
    return sorted(group.subnets or request.node_subnets)


def _in_partition(group: GroupMember, partition: str, config: ClusterConfig, message: str) -> Problem:
    """Return a problem at the line that puts the group into the partition."""
    fix = "use another partition, or suppress this warning"
    for index, each in numbered(slurm_of(config).partitions):
        if each.name == partition and each.groups is not None:
            path: Path = ("slurm", "partitions", index, "groups", each.groups.index(group.name))
            return Problem(path, group.name, message, fix)
    return Problem((*group.path, "partition"), partition, message, fix)
