"""Check which options of CreateCluster a Slurm cluster supports.

Most rules are warnings: `overrides` are passed to the API, and AWS's documentation is not always consistent.
"""

import re
from collections.abc import Iterator

from config.errors import ABSENT, Level, Path, Problem
from config.instance_group import Role
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.overrides import items, member, number, text
from validation.rules.registry import rule
from validation.rules.slurm_setup import NODE_TYPES, uses_uploaded_scripts

CONTINUOUS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html"

# Members of the cluster and of a group that AWS documents only for clusters with Kubernetes.
EKS_CLUSTER_MEMBERS: tuple[Path, ...] = (
    ("Orchestrator", "Eks"),
    ("AutoScaling",),  # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    ("RestrictedInstanceGroups",),  # https://docs.aws.amazon.com/sagemaker/latest/dg/nova-hp-cluster.html
    ("RestrictedInstanceGroupsConfig",),
    # https://aws.amazon.com/about-aws/whats-new/2025/09/managed-tiered-checkpointing-amazon-sagemaker-hyperpod
    ("TieredStorageConfig",),
)
EKS_GROUP_MEMBERS: tuple[Path, ...] = (
    ("KubernetesConfig",),
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html: it drains pods.
    ("AutoPatchConfig", "DrainPolicy"),
)


def _is_continuous(config: ClusterConfig) -> bool:
    return config.overrides.get("NodeProvisioningMode") == "Continuous"


NAME_IN_THE_API = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"


@rule("slurm-config-role", "instance_groups[]", level=Level.WARNING)
def slurm_config_role(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides.SlurmConfig` must match its `role` and `partition`.

    HyperPod uses `SlurmConfig`, and this project uses `role` and `partition`: with a mismatch, nodes run the wrong daemons, or
    jobs find no partition.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    for index, group in numbered(config.instance_groups):
        path: Path = ("instance_groups", index, "overrides", "SlurmConfig")
        kind, expected = text(group.overrides, "SlurmConfig", "NodeType"), NODE_TYPES[group.role]
        if kind and kind != expected:
            message = f"contradicts `role: {group.role.value}`; use {expected}, or change `role`"
            yield Problem((*path, "NodeType"), kind, message)
        named = list(items(group.overrides, "SlurmConfig", "PartitionNames"))
        if kind == expected == "Compute" and not named:
            message = f"required for a Compute group; add [{group.partition}]"
            yield Problem((*path, "PartitionNames"), ABSENT, message)
        for at, name in named:
            # The request check reports invalid names.
            if kind == expected and name != group.partition and re.fullmatch(NAME_IN_THE_API, str(name)):
                fix = f"use {name} for both" if group.partition else "remove it, as the group has no partition"
                yield Problem((*path, "PartitionNames", at), name, f"differs from the group's `partition`; {fix}")


@rule("slurm-config-overwrite", "instance_groups[]", "overrides", level=Level.WARNING)
def slurm_config_overwrite(config: ClusterConfig) -> Iterator[Problem]:
    """With custom lifecycle scripts, `SlurmConfigStrategy` should not be Overwrite.

    The next update would discard what the scripts wrote to slurm.conf.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    names = ("Orchestrator", "Slurm", "SlurmConfigStrategy")
    # With the default scripts HyperPod rejects any strategy: slurm-config-conflict.
    is_own = not any(uses_uploaded_scripts(group) for _, group in numbered(config.instance_groups))
    if is_own and text(config.overrides, *names) == "Overwrite" and not _is_continuous(config):
        message = "discards what your scripts wrote to slurm.conf; use Merge, or suppress this warning"
        yield Problem(("overrides", *names), "Overwrite", message)


@rule("continuous-provisioning", "instance_groups", "overrides", level=Level.WARNING)
def continuous_provisioning(config: ClusterConfig) -> Iterator[Problem]:
    """`NodeProvisioningMode: Continuous` requires a `SlurmConfig` and custom scripts in each group, and only one controller.

    It supports neither provisioning_parameters.json, which the default scripts require, nor several controllers: the cluster does
    not start.
    """
    if not _is_continuous(config):
        return
    path: Path = ("overrides", "NodeProvisioningMode")
    # slurm-config-conflict reports a group with `SlurmConfig` and the default scripts.
    incomplete = [each.name for each in config.instance_groups if not member(each.overrides, "SlurmConfig")]
    if incomplete:
        message = (
            f"requires `SlurmConfig` and another `LifeCycleConfig.SourceS3Uri` in {either(incomplete)}; remove it, or add both"
        )
        yield Problem(path, "Continuous", message)
    for index, group in enumerate(config.instance_groups):
        if group.role is Role.CONTROLLER and group.instance_count > 1:
            message = "continuous provisioning supports only one controller; set 1, or remove `NodeProvisioningMode`"
            yield Problem(("instance_groups", index, "instance_count"), group.instance_count, message)


@rule("slurm-config-strategy-conflict", "overrides")
def slurm_config_strategy_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """`NodeProvisioningMode: Continuous` and `Orchestrator.Slurm.SlurmConfigStrategy` exclude each other.

    HyperPod rejects both together, after network and storage are created; the deployment rolls back.
    """
    # CONTINUOUS, and https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    strategy = member(config.overrides, "Orchestrator", "Slurm", "SlurmConfigStrategy")
    if _is_continuous(config) and strategy is not None:
        message = "HyperPod rejects it with continuous provisioning; remove it"
        yield Problem(("overrides", "Orchestrator", "Slurm", "SlurmConfigStrategy"), strategy, message)


@rule("requires-continuous-provisioning", "instance_groups[]", "overrides", level=Level.WARNING)
def requires_continuous_provisioning(config: ClusterConfig) -> Iterator[Problem]:
    """`MinInstanceCount`, Spot, KMS keys of volumes and `AccountingDatabase` require `NodeProvisioningMode: Continuous`.

    Without it, HyperPod rejects or ignores them.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    # https://aws.amazon.com/about-aws/whats-new/2026/05/amazon-sagemaker-hyperpod-mincount
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    if _is_continuous(config):
        return
    message = "requires `NodeProvisioningMode: Continuous`; remove it"
    database = member(config.overrides, "Orchestrator", "Slurm", "AccountingDatabase")
    if database is not None:
        more = f"{message}, and use `slurm.accounting`"
        yield Problem(("overrides", "Orchestrator", "Slurm", "AccountingDatabase"), database, more)
    for index, group in numbered(config.instance_groups):
        path: Path = ("instance_groups", index, "overrides")
        least, spot = number(group.overrides, "MinInstanceCount"), member(group.overrides, "CapacityRequirements", "Spot")
        if least is not None and least <= group.instance_count:  # otherwise min-instance-count reports it
            yield Problem((*path, "MinInstanceCount"), least, message)
        if spot is not None:
            yield Problem((*path, "CapacityRequirements", "Spot"), spot, message)
        for at, each in items(group.overrides, "InstanceStorageConfigs"):
            if key := text(each, "EbsVolumeConfig", "VolumeKmsKeyId"):
                yield Problem((*path, "InstanceStorageConfigs", at, "EbsVolumeConfig", "VolumeKmsKeyId"), key, message)


@rule("eks-only-option", "instance_groups[]", "overrides", level=Level.WARNING)
def eks_only_option(config: ClusterConfig) -> Iterator[Problem]:
    """`overrides` must not contain options that exist only for clusters with Amazon EKS.

    The nodes of this project run Slurm: HyperPod rejects such a request, or the option has no effect.
    """
    message = "supported only for clusters with Amazon EKS; remove it"
    places: list[tuple[Path, Path, object]] = [(("overrides",), names, config.overrides) for names in EKS_CLUSTER_MEMBERS]
    for index, group in numbered(config.instance_groups):
        where: Path = ("instance_groups", index, "overrides")
        places += [(where, names, group.overrides) for names in EKS_GROUP_MEMBERS]
    for above, names, overrides in places:
        given = member(overrides, *map(str, names))
        if given is not None:
            yield Problem((*above, *names), given, message)


@rule("patching-strategy", "instance_groups[]", level=Level.WARNING)
def patching_strategy(config: ClusterConfig) -> Iterator[Problem]:
    """`IdleWaitWindowInSeconds` requires a patching strategy that waits for idle nodes, and percentages must not exceed 100.

    Otherwise patches are installed while jobs run, or never.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
    for index, group in numbered(config.instance_groups):
        path: Path = ("instance_groups", index, "overrides")
        patching = member(group.overrides, "AutoPatchConfig")
        window = number(patching, "IdleWaitWindowInSeconds")
        if window is not None and text(patching, "PatchingStrategy") == "DrainFirst":
            message = "has no effect with `DrainFirst`; remove it, or use WhenIdle or WhenAllIdle"
            yield Problem((*path, "AutoPatchConfig", "IdleWaitWindowInSeconds"), window, message)
        for section in ("AutoPatchConfig", "ScheduledUpdateConfig"):
            for batch in ("MaximumBatchSize", "RollbackMaximumBatchSize"):
                names = (section, "DeploymentConfig", "RollingUpdatePolicy", batch)
                share = number(group.overrides, *names, "Value")
                if share and share > 100 and text(group.overrides, *names, "Type") == "CAPACITY_PERCENTAGE":
                    yield Problem((*path, *names, "Value"), share, "exceeds 100 percent; use 1 to 100, or `Type: INSTANCE_COUNT`")
