"""Check labels and taints of nodes, and groups that Karpenter scales."""

from collections.abc import Iterator, Mapping

from cluster_request.effective_request import EffectiveRequest
from config.entries import repeated
from config.errors import ABSENT, Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import eks_request_rule, eks_rule

# https://kubernetes.io/docs/reference/labels-annotations-taints/ and the labels of HyperPod, EKS and Karpenter.
RESERVED_PREFIXES = ("kubernetes.io", "k8s.io", "amazonaws.com", "karpenter.sh")
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning-setup.html
GPU_OPERATOR_LABELS = ("nvidia.com/mig.config", "nvidia.com/mps.capable", "nvidia.com/device-plugin.config")


def reserved_prefix(key: str) -> str | None:
    """Return the reserved prefix of a key, which may be a part of a longer one."""
    prefix, slash, _ = key.partition("/")
    return next((each for each in RESERVED_PREFIXES if slash and f".{prefix}".endswith(f".{each}")), None)


@eks_request_rule("reserved-node-labels", "instance_groups[]")
def reserved_node_labels(request: EffectiveRequest) -> Iterator[Problem]:
    """Keys of labels and taints must not have a prefix of Kubernetes, AWS or Karpenter.

    Their own components set them, and HyperPod's node recovery and the scheduler depend on their values.
    """
    for group in request.groups:
        labels = group.member("KubernetesConfig", "Labels")
        keys = [(labels.member(key), key) for key in (labels.value if isinstance(labels.value, Mapping) else ())]
        keys += [(each.member("Key"), taint.key) for each, taint in group.taints()]
        for member, key in keys:
            if prefix := reserved_prefix(key):
                fix = f"use your own prefix, or none: {key.rpartition('/')[2]}"
                yield member.problem(f"the prefix {prefix} is reserved", fix, key)


@eks_request_rule("gpu-operator-labels", "instance_groups[]", "eks", level=Level.WARNING)
def gpu_operator_labels(request: EffectiveRequest) -> Iterator[Problem]:
    """Labels that configure the NVIDIA GPU operator, e.g. `nvidia.com/mig.config`, require `eks.nvidia_device_plugin: false`.

    The operator runs its own device plugin, and two on one node register the same GPUs. Without it, the labels have no effect.
    """
    if (eks := request.config.eks) is None or not eks.nvidia_device_plugin or eks.helm_chart:
        return
    for member in (group.member("KubernetesConfig", "Labels", key) for group in request.groups for key in GPU_OPERATOR_LABELS):
        if member.is_given:
            yield member.problem("is read by the NVIDIA GPU operator", "install it, and set `eks.nvidia_device_plugin: false`")


@eks_request_rule("duplicate-taints", "instance_groups[]")
def duplicate_taints(request: EffectiveRequest) -> Iterator[Problem]:
    """A group must not have two taints of the same key and effect.

    Kubernetes rejects such a node.
    """
    for group in request.groups:
        taints = list(group.taints())
        for place, _, first in repeated((place, (taint.key, taint.effect)) for place, (_, taint) in enumerate(taints)):
            message = f"already used by taints[{first}] with the same effect"
            yield taints[place][0].member("Key").problem(message, "keep only one")


@eks_request_rule("deep-health-checks-with-taints", "instance_groups[]", "overrides")
def deep_health_checks_with_taints(request: EffectiveRequest) -> Iterator[Problem]:
    """A group with `deep_health_checks` must not have `taints`.

    HyperPod allows no taints of your own on nodes that it checks.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    for group in request.groups:
        taints = group.member("KubernetesConfig", "Taints")
        if taints.value and group.member("OnStartDeepHealthChecks").value:
            yield taints.problem("not allowed in a group with deep health checks", "remove the taints or the checks")


@eks_rule("cluster-without-nodes", "instance_groups", "eks.autoscaling")
def cluster_without_nodes(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster without nodes requires `autoscaling`.

    It would never run a pod.
    """
    if config.eks and config.eks.autoscaling is None and not any(group.instance_count for group in config.instance_groups):
        yield Problem(("instance_groups",), ABSENT, "no group has nodes", "set instance_count, or `eks.autoscaling: karpenter`")


@eks_request_rule("karpenter-groups", "instance_groups[]", "overrides", "eks.autoscaling", level=Level.WARNING)
def karpenter_groups(request: EffectiveRequest) -> Iterator[Problem]:
    """With autoscaling, a group without nodes should have no `deep_health_checks` and no training plan.

    Karpenter scales groups that start without nodes, and supports neither: pods wait for the checks, and more nodes start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html
    if request.member("AutoScaling", "Mode").text != "Enable":
        return
    unsupported = {"OnStartDeepHealthChecks": "deep health checks", "TrainingPlanArn": "a training plan"}
    for group in (each for each in request.groups if each.group.instance_count == 0):
        for name, words in unsupported.items():
            member = group.member(name)
            if member.value:
                fix = f"remove it, or keep {group.name} out of HyperpodNodeClass and suppress this warning"
                yield member.problem(f"Karpenter does not support groups with {words}", fix)
