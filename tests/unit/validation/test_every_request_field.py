"""Every member of CreateCluster in the pinned boto3 can be set in a cluster file."""

from typing import Any

import pytest

from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS, RequestValues, cluster_request
from cluster_request.request_fields import TRANSFORMED, request_fields
from config.errors import Path, dotted
from tests.unit.cluster_request.request_leaves import SAMPLES, at, holding, leaves
from tests.unit.validation.override_drafts import EXISTING, THEIR_SCRIPTS

LEAVES = sorted(leaves(), key=dotted)
WORK = 2
"""The index of the draft's compute group."""

FRIENDLY: dict[str, tuple[Path, Any]] = {
    "ClusterName": (("cluster_name",), "sample"),
    "Tags[0].Key": (("tags",), {"sample": "sample"}),
    "Tags[0].Value": (("tags",), {"sample": "sample"}),
    "NodeRecovery": (("node_recovery",), "Automatic"),
    "InstanceGroups[0].InstanceGroupName": (("instance_groups", WORK, "name"), "sample"),
    "InstanceGroups[0].InstanceCount": (("instance_groups", WORK, "instance_count"), 1),
    "InstanceGroups[0].InstanceType": (("instance_groups", WORK, "instance_type"), "ml.p5.48xlarge"),
    "InstanceGroups[0].ThreadsPerCore": (("instance_groups", WORK, "threads_per_core"), 1),
    "InstanceGroups[0].OnStartDeepHealthChecks[0]": (("instance_groups", WORK, "deep_health_checks"), ["InstanceStress"]),
    "InstanceGroups[0].InstanceStorageConfigs[0].EbsVolumeConfig.VolumeSizeInGB": (("instance_groups", WORK, "volume_gib"), 1),
    "InstanceGroups[0].MinInstanceCount": (("instance_groups", WORK, "min_instance_count"), 1),
    "InstanceGroups[0].TrainingPlanArn": (("instance_groups", WORK, "training_plan_arn"), SAMPLES["TrainingPlanArn"]),
    "InstanceGroups[0].ImageId": (("instance_groups", WORK, "image_id"), SAMPLES["ImageId"]),
    "InstanceGroups[0].ExecutionRole": (("instance_groups", WORK, "execution_role"), SAMPLES["ExecutionRole"]),
}


# What a member of a group excludes, and fields of ours set.
EXCLUDED: dict[str, Path] = {"InstanceRequirements": ("InstanceType",), "OnInitComplete": ("LifeCycleConfig", "OnCreate")}


def made(draft: Any) -> Any:
    """Return the request of the draft, which must be valid, with its name."""
    config = draft.config()
    request = {**cluster_request(config, values=RequestValues.samples(config)), "ClusterName": config.cluster_name}
    request["InstanceGroups"] = request["InstanceGroups"][WORK:]
    return request


def test_the_pinned_boto3_has_98_fields() -> None:
    assert len(LEAVES) == 98
    assert {dotted(leaf) for leaf in LEAVES} >= {
        "InstanceGroups[0].CapacityRequirements.Spot",
        "InstanceGroups[0].CapacityRequirements.OnDemand",
        "InstanceGroups[0].AutoPatchConfig.PatchSchedule.NextPatchDate",
    }


@pytest.mark.parametrize("leaf", LEAVES, ids=dotted)
def test_a_valid_file_asks_for_the_field(leaf: Path, draft: Any) -> None:
    wanted = holding(leaf)
    draft.set("slurm", "metadata_access", "all")  # what a role requires
    if {"SlurmConfig", "Slurm"} & {*leaf}:  # HyperPod refuses these with our scripts
        for index in range(3):
            draft.set("instance_groups", index, "overrides", THEIR_SCRIPTS)
    if "OverrideVpcConfig" in leaf or {"FsxLustreConfig", "FsxOpenZfsConfig"} & {*leaf}:  # not beside a new network
        draft.set("network", "existing", EXISTING)
    match leaf:
        case ("InstanceGroups", _, str(member), *_) if member not in RESERVED_GROUP_MEMBERS:
            draft.set("instance_groups", WORK, "overrides", member, at(wanted, leaf[:3]))
            for excluded in (path for name, path in EXCLUDED.items() if name in leaf):
                draft.set("instance_groups", WORK, "overrides", *excluded, None)
        case (str(member), *_) if member not in RESERVED_CLUSTER_MEMBERS:
            draft.set("overrides", {member: wanted[member]})
        case _:
            path, value = FRIENDLY[dotted(leaf)]
            draft.set(*path, value)
    assert at(made(draft), leaf) == at(wanted, leaf)


@pytest.mark.parametrize("name", FRIENDLY)
def test_a_field_of_the_file_asks_for_the_field_of_the_request(name: str, draft: Any) -> None:
    [leaf] = [leaf for leaf in LEAVES if dotted(leaf) == name]
    path, value = FRIENDLY[name]
    draft.set("slurm", "metadata_access", "all")  # what a role requires
    assert at(made(draft.set(*path, value)), leaf) == at(holding(leaf), leaf)


def test_every_field_of_the_file_that_sets_one_of_the_request_is_tried() -> None:
    tried = {tuple(part for part in path if isinstance(part, str)) for path, _ in FRIENDLY.values()}
    # tests/snapshots hold what the stacks set: subnets, security groups and the prefix of the scripts.
    assert tried == {
        field for field in request_fields().values() if field[0] not in ("network", "lifecycle") and field not in TRANSFORMED
    } - {("instance_groups",)}


def test_the_fields_of_a_file_with_eks_ask_for_the_fields_of_the_request(eks_draft: Any) -> None:
    eks_draft.set("provisioning", "continuous").set("eks", "autoscaling", "karpenter")
    config = eks_draft.set("instance_groups", 1, "labels", {"team": "vision"}).config()
    request = cluster_request(config, values=RequestValues.samples(config))
    assert request["Orchestrator"] == {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/draft"}}
    assert request["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}
    assert request["InstanceGroups"][1]["KubernetesConfig"] == {
        "Labels": {"team": "vision"},
        "Taints": [{"Key": "pool", "Effect": "NoSchedule"}],
    }
    assert "KubernetesConfig" not in request["InstanceGroups"][0]
