"""Rules about what a Slurm cluster can have of CreateCluster.

Most are warnings: `overrides` are the API's own words, the service decides, and AWS's pages do not always agree.
"""

import re
from collections.abc import Iterator

from config.errors import ABSENT, Level, Path, Problem
from config.instance_group import Role
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.slurm_setup import NODE_TYPES, uses_our_prefix
from validation.rules.verbatim import items, member, number, text

CONTINUOUS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html"

# What AWS describes for clusters with Kubernetes alone, by the member of the cluster and of a group.
OF_KUBERNETES: tuple[Path, ...] = (
    ("Orchestrator", "Eks"),
    ("AutoScaling",),  # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    ("RestrictedInstanceGroups",),  # https://docs.aws.amazon.com/sagemaker/latest/dg/nova-hp-cluster.html
    ("RestrictedInstanceGroupsConfig",),
    # https://aws.amazon.com/about-aws/whats-new/2025/09/managed-tiered-checkpointing-amazon-sagemaker-hyperpod
    ("TieredStorageConfig",),
)
OF_KUBERNETES_IN_A_GROUP: tuple[Path, ...] = (
    ("KubernetesConfig",),
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html: it drains pods.
    ("AutoPatchConfig", "DrainPolicy"),
)


def _is_continuous(config: ClusterConfig) -> bool:
    return config.overrides.get("NodeProvisioningMode") == "Continuous"


NAME_IN_THE_API = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"


@rule("slurm-config-as-the-role", "instance_groups[]", level=Level.WARNING)
def slurm_config_as_the_role(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides.SlurmConfig` says the same as its `role` and `partition`.

    HyperPod sets Slurm up by the one, and this project all else by the other: nodes get daemons of two kinds, or jobs find no
    partition.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    for index, group in numbered(config.instance_groups):
        path: Path = ("instance_groups", index, "overrides", "SlurmConfig")
        kind, wanted = text(group.overrides, "SlurmConfig", "NodeType"), NODE_TYPES[group.role]
        if kind and kind != wanted:
            message = f"the group's role is {group.role.value}; write {wanted}, or change `role`"
            yield Problem((*path, "NodeType"), kind, message)
        named = list(items(group.overrides, "SlurmConfig", "PartitionNames"))
        if kind == wanted == "Compute" and not named:
            message = f"a Compute group needs it; add [{group.partition}]"
            yield Problem((*path, "PartitionNames"), ABSENT, message)
        for at, name in named:
            # What the API does not take as a name is told already.
            if kind == wanted and name != group.partition and re.fullmatch(NAME_IN_THE_API, str(name)):
                remedy = f"make both {name}" if group.partition else "remove it, as the group runs no jobs"
                yield Problem((*path, "PartitionNames", at), name, f"is not the group's `partition`; {remedy}")


@rule("slurm-conf-of-own-scripts", "instance_groups[]", "overrides", level=Level.WARNING)
def slurm_conf_of_own_scripts(config: ClusterConfig) -> Iterator[Problem]:
    """With scripts of one's own, `SlurmConfigStrategy` is not Overwrite.

    What such scripts put into slurm.conf when a node is made would be gone after the next update.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    names = ("Orchestrator", "Slurm", "SlurmConfigStrategy")
    # With this project's prefix HyperPod refuses any strategy: slurm-config-conflict.
    is_own = not any(uses_our_prefix(group) for _, group in numbered(config.instance_groups))
    if is_own and text(config.overrides, *names) == "Overwrite" and not _is_continuous(config):
        message = "writes over what your scripts put into slurm.conf; use Merge, or silence this once it has mended something"
        yield Problem(("overrides", *names), "Overwrite", message)


@rule("continuous-provisioning", "instance_groups", "overrides", level=Level.WARNING)
def continuous_provisioning(config: ClusterConfig) -> Iterator[Problem]:
    """With `NodeProvisioningMode: Continuous`, each group has a `SlurmConfig` and scripts of its own, and one node controls.

    HyperPod does not take provisioning_parameters.json with it, which this project's scripts have beside them, nor several
    controllers: the cluster does not start.
    """
    if not _is_continuous(config):
        return
    path: Path = ("overrides", "NodeProvisioningMode")
    # slurm-config-conflict tells of a group that has `SlurmConfig` and this project's prefix.
    lacking = [each.name for each in config.instance_groups if not member(each.overrides, "SlurmConfig")]
    if lacking:
        message = f"needs `SlurmConfig` and another `LifeCycleConfig.SourceS3Uri` in {either(lacking)}; remove it, or add these"
        yield Problem(path, "Continuous", message)
    for index, group in enumerate(config.instance_groups):
        if group.role is Role.CONTROLLER and group.instance_count > 1:
            message = "HyperPod has no several controllers with continuous provisioning; set 1, or remove `NodeProvisioningMode`"
            yield Problem(("instance_groups", index, "instance_count"), group.instance_count, message)


@rule("slurm-config-strategy-conflict", "overrides")
def slurm_config_strategy_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """With `NodeProvisioningMode: Continuous`, there is no `Orchestrator.Slurm.SlurmConfigStrategy`.

    HyperPod refuses the two together, after network and storage are created; the deployment rolls back.
    """
    # CONTINUOUS, and https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    strategy = member(config.overrides, "Orchestrator", "Slurm", "SlurmConfigStrategy")
    if _is_continuous(config) and strategy is not None:
        message = "HyperPod refuses a strategy with continuous provisioning; remove it"
        yield Problem(("overrides", "Orchestrator", "Slurm", "SlurmConfigStrategy"), strategy, message)


@rule("needs-continuous-provisioning", "instance_groups[]", "overrides", level=Level.WARNING)
def needs_continuous_provisioning(config: ClusterConfig) -> Iterator[Problem]:
    """`MinInstanceCount`, Spot, keys of volumes and `AccountingDatabase` go with `NodeProvisioningMode: Continuous`.

    Without it HyperPod has neither partial capacity nor keys or a database of yours: it refuses them, or does not do what they
    say.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    # https://aws.amazon.com/about-aws/whats-new/2026/05/amazon-sagemaker-hyperpod-mincount
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    if _is_continuous(config):
        return
    message = "HyperPod has it with `NodeProvisioningMode: Continuous` alone; remove it"
    database = member(config.overrides, "Orchestrator", "Slurm", "AccountingDatabase")
    if database is not None:
        more = f"{message}, and use `slurm.accounting`"
        yield Problem(("overrides", "Orchestrator", "Slurm", "AccountingDatabase"), database, more)
    for index, group in numbered(config.instance_groups):
        path: Path = ("instance_groups", index, "overrides")
        least, spot = number(group.overrides, "MinInstanceCount"), member(group.overrides, "CapacityRequirements", "Spot")
        if least is not None and least <= group.instance_count:  # of one above it, minimum-within-count tells
            yield Problem((*path, "MinInstanceCount"), least, message)
        if spot is not None:
            yield Problem((*path, "CapacityRequirements", "Spot"), spot, message)
        for at, each in items(group.overrides, "InstanceStorageConfigs"):
            if key := text(each, "EbsVolumeConfig", "VolumeKmsKeyId"):
                yield Problem((*path, "InstanceStorageConfigs", at, "EbsVolumeConfig", "VolumeKmsKeyId"), key, message)


@rule("slurm-without-kubernetes", "instance_groups[]", "overrides", level=Level.WARNING)
def slurm_without_kubernetes(config: ClusterConfig) -> Iterator[Problem]:
    """Nothing in `overrides` is for clusters with Amazon EKS alone.

    The nodes of this project run Slurm: HyperPod refuses such a request, or there is nobody on the nodes to do what it asks for.
    """
    message = "AWS has it for clusters with Amazon EKS alone, and this one runs Slurm; remove it"
    places: list[tuple[Path, Path, object]] = [(("overrides",), names, config.overrides) for names in OF_KUBERNETES]
    for index, group in numbered(config.instance_groups):
        where: Path = ("instance_groups", index, "overrides")
        places += [(where, names, group.overrides) for names in OF_KUBERNETES_IN_A_GROUP]
    for above, names, overrides in places:
        given = member(overrides, *map(str, names))
        if given is not None:
            yield Problem((*above, *names), given, message)


@rule("patching-by-its-strategy", "instance_groups[]", level=Level.WARNING)
def patching_by_its_strategy(config: ClusterConfig) -> Iterator[Problem]:
    """`AutoPatchConfig.IdleWaitWindowInSeconds` goes with a strategy that waits for idle nodes, and percentages end at 100.

    HyperPod would not do what the file says: patches come sooner than jobs end, or never.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
    for index, group in numbered(config.instance_groups):
        path: Path = ("instance_groups", index, "overrides")
        patching = member(group.overrides, "AutoPatchConfig")
        window = number(patching, "IdleWaitWindowInSeconds")
        if window is not None and text(patching, "PatchingStrategy") == "DrainFirst":
            message = "`DrainFirst` does not wait for idle nodes; remove it, or use WhenIdle or WhenAllIdle"
            yield Problem((*path, "AutoPatchConfig", "IdleWaitWindowInSeconds"), window, message)
        for section in ("AutoPatchConfig", "ScheduledUpdateConfig"):
            for batch in ("MaximumBatchSize", "RollbackMaximumBatchSize"):
                names = (section, "DeploymentConfig", "RollingUpdatePolicy", batch)
                share = number(group.overrides, *names, "Value")
                if share and share > 100 and text(group.overrides, *names, "Type") == "CAPACITY_PERCENTAGE":
                    yield Problem((*path, *names, "Value"), share, "is a percentage; use 1 to 100, or `Type: INSTANCE_COUNT`")
