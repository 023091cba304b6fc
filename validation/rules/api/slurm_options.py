"""Check which options of CreateCluster a Slurm cluster supports.

Most rules are warnings: `overrides` are passed to the API, and AWS's documentation is not always consistent.
"""

import re
from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from cluster_request.request import NODE_TYPES
from config.errors import ABSENT, Level, Problem
from config.instance_group import Role
from config.model import slurm_of
from config.slurm import Database
from config.suggestions import either
from validation.rules.api.capacity import NOT_CONTINUOUS, continuous_problems, is_continuous
from validation.rules.api.scripts import uses_uploaded_scripts
from validation.rules.registry import slurm_request_rule

CONTINUOUS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html"

# Members of the cluster and of a group that AWS documents only for clusters with Kubernetes.
EKS_CLUSTER_MEMBERS: tuple[tuple[str, ...], ...] = (
    ("Orchestrator", "Eks"),
    ("AutoScaling",),  # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    ("RestrictedInstanceGroups",),  # https://docs.aws.amazon.com/sagemaker/latest/dg/nova-hp-cluster.html
    ("RestrictedInstanceGroupsConfig",),
    # https://aws.amazon.com/about-aws/whats-new/2025/09/managed-tiered-checkpointing-amazon-sagemaker-hyperpod
    ("TieredStorageConfig",),
)
EKS_GROUP_MEMBERS: tuple[tuple[str, ...], ...] = (
    ("KubernetesConfig",),
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html: it drains pods.
    ("AutoPatchConfig", "DrainPolicy"),
)


NAME_IN_THE_API = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"


@slurm_request_rule("slurm-config-role", "instance_groups[]", level=Level.WARNING)
def slurm_config_role(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's `overrides.SlurmConfig` must match its `role` and `partition`.

    HyperPod uses `SlurmConfig`, and this project uses `role` and `partition`: with a mismatch, nodes run the wrong daemons, or
    jobs find no partition.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    for group in request.groups:
        role, partition = group.group.role, group.group.partition
        node_type = group.member("SlurmConfig", "NodeType")
        if role is None or not node_type.text:
            continue
        if node_type.text != NODE_TYPES[role]:
            yield node_type.problem(f"contradicts `role: {role.value}`", f"use {NODE_TYPES[role]}, or change `role`")
            continue
        names = group.member("SlurmConfig", "PartitionNames")
        if role is Role.COMPUTE and not list(names.entries()):
            yield names.problem("required for a Compute group", f"add [{partition}]", ABSENT)
        for name in names.entries():
            # The request check reports invalid names.
            if name.value != partition and re.fullmatch(NAME_IN_THE_API, str(name.value)):
                fix = f"use {name.value} for both" if partition else "remove it, as the group has no partition"
                yield name.problem("differs from the group's `partition`", fix)


@slurm_request_rule("slurm-config-overwrite", "instance_groups[]", "overrides", level=Level.WARNING)
def slurm_config_overwrite(request: EffectiveRequest) -> Iterator[Problem]:
    """With custom lifecycle scripts, `SlurmConfigStrategy` should not be Overwrite.

    The next update would discard what the scripts wrote to slurm.conf.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    strategy = request.member("Orchestrator", "Slurm", "SlurmConfigStrategy")
    # With `slurm.setup: scripts` HyperPod rejects any strategy: slurm-config-conflict.
    is_used = request.config.uses_slurm_api or not any(uses_uploaded_scripts(group) for group in request.groups)
    if is_used and strategy.text == "Overwrite" and not is_continuous(request):
        yield strategy.problem("discards what your scripts wrote to slurm.conf", "use Merge, or suppress this warning")


@slurm_request_rule("continuous-provisioning", "instance_groups", "overrides", "provisioning", level=Level.WARNING)
def continuous_provisioning(request: EffectiveRequest) -> Iterator[Problem]:
    """`provisioning: continuous` requires one controller, and `slurm.setup: api` or custom scripts with `SlurmConfig`.

    It supports neither provisioning_parameters.json, which the default scripts require, nor several controllers: the cluster does
    not start.
    """
    if not is_continuous(request):
        return
    # slurm-config-conflict reports a group with `SlurmConfig` and the default scripts.
    incomplete = [group.name for group in request.groups if not group.member("SlurmConfig").value]
    if incomplete:
        yield request.member("NodeProvisioningMode").problem(
            f"requires `SlurmConfig` and other scripts in {either(incomplete)}", "set `slurm.setup: api`, or remove this line"
        )
    for count in (group.member("InstanceCount") for group in request.of_role(Role.CONTROLLER)):
        if (count.number or 0) > 1:
            yield count.problem("continuous provisioning supports only one controller", "set 1, or remove `provisioning`")


@slurm_request_rule("slurm-config-strategy-conflict", "overrides", "provisioning")
def slurm_config_strategy_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """`provisioning: continuous` and `Orchestrator.Slurm.SlurmConfigStrategy` exclude each other.

    HyperPod rejects both together, after network and storage are created; the deployment rolls back.
    """
    # CONTINUOUS, and https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    strategy = request.member("Orchestrator", "Slurm", "SlurmConfigStrategy")
    if is_continuous(request) and strategy.is_given:
        yield strategy.problem("HyperPod rejects it with continuous provisioning", "remove it")


@slurm_request_rule("requires-continuous-provisioning", "instance_groups[]", "overrides", "provisioning", level=Level.WARNING)
def requires_continuous_provisioning(request: EffectiveRequest) -> Iterator[Problem]:
    """`min_instance_count`, Spot, KMS keys of volumes and `AccountingDatabase` require `provisioning: continuous`.

    Without it, HyperPod rejects or ignores them.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    # https://aws.amazon.com/about-aws/whats-new/2026/05/amazon-sagemaker-hyperpod-mincount
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    if is_continuous(request):
        return
    database = request.member("Orchestrator", "Slurm", "AccountingDatabase")
    # Otherwise managed-accounting or accounting-database-override reports it.
    if database.is_given and database.is_overridden and not request.config.uses_slurm_api:
        message, fix = NOT_CONTINUOUS
        yield database.problem(message, f"{fix}, and use `slurm.accounting`")
    yield from continuous_problems(request)


@slurm_request_rule(
    "accounting-database-override", "slurm.accounting", "slurm.setup", "instance_groups", "overrides", "provisioning"
)
def accounting_database_override(request: EffectiveRequest) -> Iterator[Problem]:
    """With `slurm.setup: api`, `overrides` must not set or remove an AccountingDatabase against `slurm.accounting.database`.

    Otherwise HyperPod and this project's scripts connect Slurm to different databases.
    """
    accounting, database = slurm_of(request.config).accounting, request.member("Orchestrator", "Slurm", "AccountingDatabase")
    # managed-accounting reports `scripts`, and external-accounting missing fields.
    if not request.config.uses_slurm_api or not database.is_overridden:
        return
    is_managed = accounting.database is Database.MANAGED
    if is_managed and not database.is_given:
        yield database.problem("removes the `managed` database", "remove this line, or set `database: external`")
    elif database.is_given and not is_managed:
        yield database.problem(
            f"contradicts `database: {accounting.database}`", "use the fields of `slurm.accounting` and `managed`"
        )


@slurm_request_rule("eks-only-option", "instance_groups[]", "overrides", level=Level.WARNING)
def eks_only_option(request: EffectiveRequest) -> Iterator[Problem]:
    """`overrides` must not contain options that exist only for clusters with Amazon EKS.

    The nodes of this project run Slurm: HyperPod rejects such a request, or the option has no effect.
    """
    members = [request.member(*names) for names in EKS_CLUSTER_MEMBERS]
    members += [group.member(*names) for group in request.groups for names in EKS_GROUP_MEMBERS]
    for each in members:
        if each.is_given and each.is_overridden:  # eks-only-fields reports a field
            yield each.problem("supported only for clusters with Amazon EKS", "remove it")
