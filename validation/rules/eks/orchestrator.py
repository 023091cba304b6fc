"""Check that a file has only what its orchestrator supports."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from cluster_request.kubernetes_objects.health_agent import ACCOUNTS
from config.entries import numbered
from config.errors import ABSENT, Level, Path, Problem
from config.lifecycle import LifecycleConfig
from config.model import ClusterConfig, eks_of
from config.suggestions import either
from config.zones import region_of_zone
from validation.rules.api.capacity import NOT_CONTINUOUS, continuous_problems, is_continuous
from validation.rules.registry import eks_request_rule, eks_rule, slurm_rule

SLURM_SECTIONS = ("users", "user_groups", "directory")
# Settings of the agent that only Slurm nodes run, and of their login.
AGENT_FIELDS = ("follow", "on_follow_failure", "message_of_the_day")
LIVE_SCRIPTS = "live"
SLURM_ONLY = "exists only for Slurm"


@eks_rule("one-orchestrator", "slurm", "eks")
def one_orchestrator(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm` and `eks` exclude each other.

    HyperPod runs one orchestrator on a cluster, and cannot change it later.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestrator.html
    if "slurm" in config.model_fields_set:
        yield Problem(("eks",), ABSENT, "cannot be combined with `slurm`", "keep only one")


@eks_rule("slurm-only-fields", *SLURM_SECTIONS, "instance_groups[]", "lifecycle", "storage.homes", "storage.openzfs")
def slurm_only_fields(config: ClusterConfig) -> Iterator[Problem]:
    """A file with `eks` must not have fields that exist only for Slurm: users, a directory, roles, partitions, home directories.

    They would have no effect: IAM roles in `admins` and `teams` give access to an EKS cluster, and pods choose nodes by labels.
    """
    for name in SLURM_SECTIONS:
        if getattr(config, name):
            yield Problem((name,), ABSENT, SLURM_ONLY, "remove it, and set `eks.admins` or `eks.teams`")
    for index, group in numbered(config.instance_groups):
        for name in ("role", "partition"):
            if (value := getattr(group, name)) is not None:
                yield Problem(("instance_groups", index, name), str(value), SLURM_ONLY, "remove it")
    for name in ("homes", "openzfs"):
        if name in config.storage.model_fields_set and getattr(config.storage, name) is not None:
            yield Problem(("storage", name), ABSENT, SLURM_ONLY, "remove it")
    yield from _agent_problems(config.lifecycle)


def _agent_problems(lifecycle: LifecycleConfig) -> Iterator[Problem]:
    for name in AGENT_FIELDS:
        if name in lifecycle.model_fields_set and (value := getattr(lifecycle, name)) is not None:
            yield Problem(("lifecycle", name), str(value), SLURM_ONLY, "remove it")
    if lifecycle.extra and (lifecycle.extra / LIVE_SCRIPTS).is_dir():
        message = f"`{LIVE_SCRIPTS}/` {SLURM_ONLY}"
        yield Problem(("lifecycle", "extra"), str(lifecycle.extra.name), message, "remove that folder")


@slurm_rule("eks-only-fields", "instance_groups[]")
def eks_only_fields(config: ClusterConfig) -> Iterator[Problem]:
    """The groups of a file without `eks` must not have `labels` or `taints`.

    They belong to nodes in Kubernetes.
    """
    for index, group in numbered(config.instance_groups):
        for name in ("labels", "taints"):
            if getattr(group, name):
                yield Problem(("instance_groups", index, name), ABSENT, "exists only for EKS", "remove it, or add `eks`")


@eks_request_rule("slurm-only-options", "instance_groups[]", "overrides")
def slurm_only_options(request: EffectiveRequest) -> Iterator[Problem]:
    """`overrides` of a file with `eks` must not contain `SlurmConfig`.

    HyperPod rejects it for clusters with another orchestrator.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html
    for group in request.groups:
        if (given := group.member("SlurmConfig")).is_given:
            yield given.problem("supported only for Slurm", "remove it")


@eks_rule("orchestrator-override", "overrides")
def orchestrator_override(config: ClusterConfig) -> Iterator[Problem]:
    """`overrides` of a file with `eks` must not set Orchestrator.

    The EKS cluster, its access entries and the objects in it are derived from `eks`.
    """
    if "Orchestrator" in config.overrides:
        path: Path = ("overrides", "Orchestrator")
        yield Problem(path, config.overrides["Orchestrator"], "cannot be overridden", "set `eks` instead")


@eks_rule("health-agent-region", "region", "network.availability_zone_id")
def health_agent_region(config: ClusterConfig) -> Iterator[Problem]:
    """The region must have an image of HyperPod's health monitoring agent.

    Nodes with accelerators run it. AWS publishes the image in each region's own registry.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html
    region = config.region or region_of_zone(config.network.availability_zone_id)
    if region and region not in ACCOUNTS:
        message = f"no health monitoring agent is known in {region}"
        yield Problem(("region",), config.region or ABSENT, message, f"use {either(sorted(ACCOUNTS))}")


@eks_request_rule("autoscaling-provisioning", "overrides", "provisioning", "eks.autoscaling")
def autoscaling_provisioning(request: EffectiveRequest) -> Iterator[Problem]:
    """`eks.autoscaling`, and `AutoScaling` of `overrides`, require `provisioning: continuous`.

    HyperPod rejects it otherwise.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    autoscaling = eks_of(request.config).autoscaling
    mode = request.member("AutoScaling", "Mode")
    if autoscaling and not is_continuous(request):
        yield Problem(("eks", "autoscaling"), autoscaling.value, *NOT_CONTINUOUS)
    elif mode.text == "Enable" and not is_continuous(request):
        yield mode.problem(*NOT_CONTINUOUS)


@eks_request_rule("autoscaling-role", "overrides", "eks.autoscaling")
def autoscaling_role(request: EffectiveRequest) -> Iterator[Problem]:
    """`AutoScaling` of `overrides` requires `ClusterRole`, which `eks.autoscaling` sets.

    HyperPod assumes this role to add and remove nodes, and rejects the cluster without it.
    """
    mode, has_role = request.member("AutoScaling", "Mode"), request.member("ClusterRole").is_given
    if mode.text == "Enable" and not has_role and not eks_of(request.config).autoscaling:
        yield mode.problem("requires `ClusterRole`", "use `eks.autoscaling`, or add the role's ARN to `overrides`")


@eks_request_rule("eks-requires-continuous-provisioning", "instance_groups[]", "overrides", "provisioning", level=Level.WARNING)
def eks_requires_continuous(request: EffectiveRequest) -> Iterator[Problem]:
    """`min_instance_count`, Spot and KMS keys of volumes require `provisioning: continuous`.

    Without it, HyperPod rejects or ignores them.
    """
    # https://aws.amazon.com/about-aws/whats-new/2026/05/amazon-sagemaker-hyperpod-mincount
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    if not is_continuous(request):
        yield from continuous_problems(request)
