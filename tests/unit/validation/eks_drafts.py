"""Define a draft for each rule for EKS that breaks only this rule."""

from collections.abc import Callable
from typing import Any

from tests.unit.validation.override_drafts import RESTRICTED

WORK = 1
"""The index of the draft's group with accelerators."""

NETWORK = {
    "vpc_id": "vpc-0123456789abcdef0",
    "node_subnet_ids": ["subnet-0123456789abcdef0"],
    "security_group_id": "sg-0123456789abcdef0",
}
TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
OTHER_KEY = "arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p5"
SERVICE_LINKED = "arn:aws:iam::123456789012:role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS"


def existing(draft: Any) -> Any:
    """Return the draft with an existing EKS cluster and network."""
    return draft.remove("eks", "version").set("eks", "existing", {"name": "theirs"}).set("network", "existing", NETWORK)


def quota(draft: Any, **values: object) -> Any:
    """Return the draft with a changed quota of the first team."""
    own = draft.content["eks"]["teams"][0]["quota"]
    return draft.set("eks", "teams", 0, "quota", {**own, **values})


def resources(draft: Any, *entries: dict[str, object]) -> Any:
    """Return the draft with these resources of the first team, of the working group's type."""
    return quota(draft, resources=[{"instance_type": "ml.p5.48xlarge", **each} for each in entries])


EKS_BREAKERS: dict[str, Callable[[Any], object]] = {
    "one-orchestrator": lambda draft: draft.set("slurm", {}),
    "slurm-only-fields": lambda draft: draft.set("users", [{"name": "alice", "uid": 10001}]),
    "slurm-only-options": lambda draft: draft.set(
        "instance_groups", WORK, "overrides", {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["dev"]}}
    ),
    "orchestrator-override": lambda draft: draft.set("overrides", {"Orchestrator": {"Slurm": {}}}),
    "health-agent-region": lambda draft: (
        draft.set("region", "eu-west-3")
        .set("network", "availability_zone_id", "euw3-az1")
        .set("suppress", [{"rule": "type-in-zone", "reason": "each region with the draft's type has an agent"}])
    ),
    "eks-requires-continuous-provisioning": lambda draft: draft.set("instance_groups", WORK, "min_instance_count", 2),
    "autoscaling-provisioning": lambda draft: draft.set("eks", "autoscaling", "karpenter").set(
        "suppress", [{"rule": "subnet-capacity-autoscaling", "reason": "the rule at hand is about provisioning"}]
    ),
    "kubernetes-version": lambda draft: draft.set("eks", "version", "1.29"),
    "newer-kubernetes-version": lambda draft: draft.set("eks", "version", "1.36"),
    "broken-addon-version": lambda draft: draft.set("eks", "addons", {"vpc-cni": {"version": "v1.22.1-eksbuild.1"}}),
    "existing-eks-network": lambda draft: existing(draft).remove("network", "existing"),
    "unused-eks-fields": lambda draft: existing(draft).set("eks", "log_retention_days", 30),
    "control-plane-subnets": lambda draft: draft.set("network", "existing", NETWORK),
    "control-plane-cidrs": lambda draft: draft.set("eks", "control_plane_cidrs", ["10.0.1.0/28", "10.7.0.0/28"]),
    "control-plane-zones": lambda draft: draft.set("eks", "control_plane_zone_ids", ["usw2-az1", "usw2-az1"]),
    "public-access-cidrs": lambda draft: draft.set("eks", "public_access_cidrs", ["100.64.1.0/24"]),
    "control-plane-log-retention": lambda draft: draft.set("eks", "log_retention_days", 42),
    "control-plane-logs": lambda draft: draft.set("eks", "logs", ["api", "api"]),
    "secrets-key-region": lambda draft: draft.set("eks", "secrets_key_arn", OTHER_KEY),
    "retain-eks-cluster": lambda draft: draft.set("removal", "retain"),
    "unique-principals": lambda draft: draft.set("eks", "admins", ["arn:aws:iam::123456789012:role/Vision"]),
    "no-admins": lambda draft: draft.remove("eks", "admins"),
    "service-linked-principals": lambda draft: draft.set("eks", "admins", [SERVICE_LINKED]),
    "helm-chart-folder": lambda draft: draft.put("charts/values.yaml").set("eks", "helm_chart", {"folder": "charts"}),
    "unique-team-names": lambda draft: draft.set("eks", "teams", 1, "name", "vision"),
    "team-name-prefix": lambda draft: draft.set("eks", "teams", 1, "name", "hyperpod-ns-speech"),
    "addon-version": lambda draft: existing(draft).set("eks", "addons", {"coredns": {"enabled": True}}),
    "required-addons": lambda draft: draft.set("eks", "addons", {"kube-proxy": {"enabled": False}}),
    "addon-requirements": lambda draft: draft.set("eks", "addons", {"eks-pod-identity-agent": {"enabled": False}}),
    "task-governance": lambda draft: draft.set("eks", "addons", {TASK_GOVERNANCE: {"enabled": False}}),
    "unused-addon-settings": lambda draft: draft.set(
        "eks", "addons", {"metrics-server": {"enabled": False, "configuration": {"replicas": 1}}}
    ),
    "nodes-for-addons": lambda draft: draft.remove("instance_groups", 0),
    "pod-capacity": lambda draft: draft.set("instance_groups", 0, "instance_type", "ml.t3.medium"),
    "pod-capacity-for-jobs": lambda draft: (
        draft.set("network", "availability_zone_id", "usw2-az2")
        .content["instance_groups"]
        .append({"name": "notebooks", "instance_type": "ml.g4dn.xlarge", "instance_count": 1})
    ),
    "wait-for-addons": lambda draft: draft.set("wait", "none"),
    "cluster-without-nodes": lambda draft: (
        quota(draft, resources=[]).set("instance_groups", 0, "instance_count", 0).set("instance_groups", 1, "instance_count", 0)
    ),
    "karpenter-groups": lambda draft: (
        draft.set("eks", "autoscaling", "karpenter")
        .set("provisioning", "continuous")
        .set("suppress", [{"rule": "subnet-capacity-autoscaling", "reason": "the rule at hand is about groups"}])
        .set("instance_groups", WORK, "instance_count", 0)
        .set("instance_groups", WORK, "training_plan_arn", PLAN)
    ),
    "reserved-node-labels": lambda draft: draft.set(
        "instance_groups", WORK, "taints", [{"key": "sagemaker.amazonaws.com/pool", "effect": "NoSchedule"}]
    ),
    "restricted-group-role": lambda draft: draft.set("overrides", "RestrictedInstanceGroups", [RESTRICTED]),
    "gpu-operator-labels": lambda draft: draft.set("instance_groups", WORK, "labels", {"nvidia.com/mig.config": "all-1g.10gb"}),
    "deep-health-checks-with-taints": lambda draft: (
        draft.set("instance_groups", WORK, "deep_health_checks", ["InstanceStress"])
        .set("instance_groups", WORK, "overrides", {"KubernetesConfig": {"Taints": [{"Key": "gpu", "Effect": "NoSchedule"}]}})
        .set("wait_hours", 3)
    ),
    "duplicate-taints": lambda draft: draft.set(
        "instance_groups", WORK, "taints", [{"key": "pool", "effect": "NoSchedule"}, {"key": "pool", "effect": "NoSchedule"}]
    ),
    "quota-amounts": lambda draft: resources(draft, {"count": 1, "vcpus": 8}),
    "duplicate-quota-types": lambda draft: resources(draft, {"count": 1}, {"count": 2}),
    "quota-instance-types": lambda draft: resources(draft, {"instance_type": "ml.p4d.24xlarge", "count": 1}),
    "quota-total": lambda draft: resources(draft, {"count": 5}),
    "quota-sharing": lambda draft: quota(draft, sharing="DontLend", borrow_limit_percent=50),
    "unused-fair-share": lambda draft: quota(draft, fair_share_weight=10).set("eks", "scheduling", "fair_share", False),
    "unique-priorities": lambda draft: draft.set(
        "eks", "scheduling", "priority_classes", [{"name": "a", "weight": 1}, {"name": "a", "weight": 2}]
    ),
}
