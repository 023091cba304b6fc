"""Rules for EKS whose details need more than one draft."""

from typing import Any

import pytest

from cluster_request.eks_addons import addons_after_nodes
from cluster_request.kubernetes_objects.dependencies import objects_of
from tests.unit.validation.eks_drafts import PLAN, WORK, existing, resources
from tests.unit.validation.override_drafts import NETWORK as SUBNETS


def found(draft: Any) -> list[tuple[str | None, str]]:
    return [(each.rule, str(each).partition(": ")[0]) for each in draft.problems()]


@pytest.mark.parametrize("name", ["vpc-cni", "kube-proxy", "coredns"])
def test_a_new_eks_cluster_needs_its_network_and_dns(eks_draft: Any, name: str) -> None:
    eks_draft.set("eks", "addons", {name: {"enabled": False}})
    assert [each.rule for each in eks_draft.problems()] == ["required-addons"]
    assert "required-addons" not in [rule for rule, _ in found(existing(eks_draft))]  # which may have its own


def test_a_retained_cluster_requires_a_retained_eks_cluster_unless_it_exists(eks_draft: Any) -> None:
    eks_draft.set("removal", "retain").set("eks", "removal", "destroy")
    [problem] = eks_draft.problems()
    assert (problem.rule, problem.value) == ("retain-eks-cluster", "destroy")
    eks_draft.set("eks", "removal", "retain")
    assert eks_draft.problems() == []
    existing(eks_draft).remove("eks", "removal")
    assert "retain-eks-cluster" not in [rule for rule, _ in found(eks_draft)]


def test_principals_and_the_secrets_key_are_of_the_partition_of_the_clusters_region(eks_draft: Any) -> None:
    eks_draft.set("region", "us-gov-west-1").set("network", "availability_zone_id", "usgw1-az1")
    key = "arn:aws:kms:us-gov-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    eks_draft.set("eks", "secrets_key_arn", key).set("eks", "admins", ["arn:aws:iam::123456789012:user/ops"])
    wrong = {path for rule, path in found(eks_draft) if rule == "arn-partition"}
    assert wrong == {"eks.admins[0]", "eks.secrets_key_arn", "eks.teams[0].role_arns[0]"}
    fixed = key.replace("arn:aws:", "arn:aws-us-gov:")
    eks_draft.set("eks", "secrets_key_arn", fixed).set("eks", "admins", ["arn:aws-us-gov:iam::123456789012:user/ops"])
    eks_draft.set("eks", "teams", 0, "role_arns", [])
    assert "arn-partition" not in [rule for rule, _ in found(eks_draft)]


def test_addons_whose_tolerations_the_deployment_sets_need_no_group_without_taints(eks_draft: Any) -> None:
    eks_draft.remove("instance_groups", 0)
    [problem] = eks_draft.problems()
    assert problem.rule == "nodes-for-addons"
    operator, governance = "amazon-sagemaker-hyperpod-training-operator", "amazon-sagemaker-hyperpod-taskgovernance"
    assert operator in problem.message
    assert governance in problem.message
    assert "amazon-cloudwatch-observability" not in problem.message
    tolerations = {"configuration": {"tolerations": [{"operator": "Exists"}]}}
    eks_draft.set("eks", "addons", {operator: tolerations, governance: tolerations})
    assert eks_draft.problems() == []


def test_addons_that_need_nodes_are_installed_after_nodes_run(eks_draft: Any) -> None:
    eks_draft.set("wait", "cluster")
    assert eks_draft.problems() == []
    [problem] = [each for each in eks_draft.set("provisioning", "continuous").problems() if each.rule == "wait-for-addons"]
    assert "coredns and other add-ons need nodes" in problem.message
    [problem] = [each for each in eks_draft.set("wait", "none").problems() if each.rule == "wait-for-addons"]
    assert problem.level.value == "warning"


def test_pods_take_addresses_of_the_nodes_subnet(eks_draft: Any) -> None:
    eks_draft.remove("storage")
    workers = eks_draft.content["instance_groups"][1]
    assert (workers["instance_type"], workers["instance_count"]) == ("ml.p5.48xlarge", 4)  # 81 addresses each
    eks_draft.set("network", "node_cidr", "10.1.0.0/24")
    [problem] = [each for each in eks_draft.problems() if each.rule == "subnet-capacity"]
    assert "324 = 4 x 81" in problem.message
    eks_draft.set("network", "node_cidr", "10.1.0.0/22")
    assert eks_draft.problems() == []


def test_deep_health_checks_need_accelerators_efa_and_time_and_exclude_taints(eks_draft: Any) -> None:
    eks_draft.set("instance_groups", 0, "deep_health_checks", ["InstanceStress"])
    assert [each.rule for each in eks_draft.problems()] == ["deep-health-check-types"]
    eks_draft.remove("instance_groups", 0, "deep_health_checks")

    every = ["InstanceStress", "InstanceConnectivity", "MultiNodeTrainingValidation"]
    eks_draft.set("instance_groups", WORK, "deep_health_checks", every)
    eks_draft.set("instance_groups", WORK, "taints", [{"key": "gpu", "effect": "NoSchedule"}])
    [problem] = [each for each in eks_draft.problems() if each.rule == "deep-health-checks-with-taints"]
    assert (problem.path, problem.level.value) == (("instance_groups", WORK, "taints"), "error")
    assert (problem.message, problem.fix) == ("not allowed in a group with deep health checks", "remove the taints or the checks")
    eks_draft.remove("instance_groups", WORK, "taints")
    assert [each.rule for each in eks_draft.problems()] == ["deep-health-check-timeout"]
    eks_draft.set("wait_hours", 3)
    assert eks_draft.problems() == []
    eks_draft.set("instance_groups", WORK, "instance_type", "ml.g5.xlarge")
    assert "connectivity-check" in [each.rule for each in eks_draft.problems()]


@pytest.mark.parametrize(
    ("part", "amount", "message"),
    [
        ({"accelerators": 24}, 24, None),  # the other team has the fourth instance
        ({"accelerators": 25}, 25, "teams reserve 33 of 32 accelerators of ml.p5.48xlarge"),
        ({"vcpus": 576.0}, 576.0, None),
        ({"vcpus": 576.5}, 576.5, "teams reserve 768.5 of 768 vCPUs of ml.p5.48xlarge"),
        ({"memory_gib": 6145.0}, 6145.0, "teams reserve 8193 of 8192 GiB of memory of ml.p5.48xlarge"),
        ({"accelerators": 4, "memory_gib": 7000.0}, 7000.0, "teams reserve 9048 of 8192 GiB of memory of ml.p5.48xlarge"),
    ],
)
def test_parts_of_instances_count_in_the_total_of_quotas(eks_draft: Any, part: Any, amount: float, message: str | None) -> None:
    teams = eks_draft.content["eks"]["teams"]
    teams[:] = [{"name": "whole", "quota": {"resources": [{"instance_type": "ml.p5.48xlarge", "count": 1}]}}, teams[0]]
    teams[1]["quota"] = {"resources": [{"instance_type": "ml.p5.48xlarge", **part}]}
    over = [each for each in eks_draft.problems() if each.rule == "quota-total"]
    assert [each.value for each in over] == ([amount] if message else [])
    assert [each.message for each in over] == ([message] if message else [])
    teams.reverse()  # the whole instance is then one too many
    assert [each.value for each in eks_draft.problems() if each.rule == "quota-total"] == ([1] if message else [])


def test_quotas_that_reserve_too_much_are_reported_once_with_their_total(eks_draft: Any) -> None:
    teams = eks_draft.content["eks"]["teams"]
    quotas = [{"resources": [{"instance_type": "ml.p5.48xlarge", "count": count}]} for count in (3, 6, 1)]
    teams[:] = [{"name": f"team-{index}", "quota": quota} for index, quota in enumerate(quotas)]
    [over] = [each for each in eks_draft.problems() if each.rule == "quota-total"]
    assert (over.path[2], over.value) == (1, 6)
    assert over.message == "teams reserve 10 of 4 ml.p5.48xlarge"


def test_parts_of_an_unknown_type_are_not_counted(eks_draft: Any) -> None:
    resources(eks_draft, {"accelerators": 900}).set("instance_groups", WORK, "instance_type", "ml.p9.48xlarge")
    eks_draft.set("eks", "teams", 0, "quota", "resources", 0, "instance_type", "ml.p9.48xlarge")
    assert "quota-total" not in [rule for rule, _ in found(eks_draft)]


def test_karpenter_scales_no_group_with_deep_health_checks_or_a_training_plan(eks_draft: Any) -> None:
    eks_draft.set("provisioning", "continuous").set("instance_groups", WORK, "deep_health_checks", ["InstanceStress"])
    eks_draft.set("instance_groups", WORK, "overrides", {"TrainingPlanArn": PLAN}).set(
        "instance_groups", WORK, "instance_count", 0
    )
    assert "karpenter-groups" not in [rule for rule, _ in found(eks_draft)]
    eks_draft.set("eks", "autoscaling", "karpenter")
    wrong = [path for rule, path in found(eks_draft) if rule == "karpenter-groups"]
    above = f"instance_groups[{WORK}]"
    assert wrong == [f"{above}.deep_health_checks", f"{above}.overrides.TrainingPlanArn"]
    eks_draft.set("instance_groups", WORK, "instance_count", 2)  # Karpenter would remove these nodes: not its group
    assert "karpenter-groups" not in [rule for rule, _ in found(eks_draft)]


def test_no_room_is_counted_for_karpenter_where_all_groups_have_their_own_network(eks_draft: Any) -> None:
    eks_draft.set("eks", "autoscaling", "karpenter").set("provisioning", "continuous")
    assert "subnet-capacity-autoscaling" in [rule for rule, _ in found(eks_draft)]
    for index in range(2):
        eks_draft.set("instance_groups", index, "overrides", {"OverrideVpcConfig": SUBNETS})
    assert "subnet-capacity-autoscaling" not in [rule for rule, _ in found(eks_draft)]


# The setters that AWS and NVIDIA document:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning-setup.html (MIG),
# https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html (device plugin, MPS)
@pytest.mark.parametrize("key", ["mig.config", "mps.capable", "device-plugin.config"])
def test_the_labels_of_the_gpu_operator_need_only_its_own_device_plugin(eks_draft: Any, key: str) -> None:
    eks_draft.set("instance_groups", WORK, "labels", {f"nvidia.com/{key}": "all-1g.10gb", "task-type": "inference"})
    with_plugin = {each["metadata"]["name"] for each in objects_of(eks_draft.config(), region="us-west-2")}
    assert found(eks_draft)[0][0] == "gpu-operator-labels"
    assert eks_draft.set("eks", "nvidia_device_plugin", False).problems() == []
    without = {each["metadata"]["name"] for each in objects_of(eks_draft.config(), region="us-west-2")}
    assert with_plugin - without == {"nvidia-device-plugin"}


def test_the_usual_taint_of_gpu_nodes_is_accepted_and_tolerated(eks_draft: Any) -> None:
    eks_draft.set("instance_groups", WORK, "taints", [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}])
    assert eks_draft.problems() == []
    coredns = addons_after_nodes(eks_draft.config())[0]
    assert "nvidia.com/gpu" in [each["key"] for each in coredns.configuration["tolerations"]]


def test_the_device_plugin_of_a_chart_is_set_in_its_values(eks_draft: Any) -> None:
    eks_draft.put("chart/Chart.yaml").set("eks", "helm_chart", {"folder": "chart"}).set("eks", "nvidia_device_plugin", False)
    assert ("unused-eks-fields", "eks.nvidia_device_plugin") in found(eks_draft)
