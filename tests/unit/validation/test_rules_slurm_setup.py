"""Rules about the setup of Slurm: default scripts, custom scripts, or HyperPod's SlurmConfig."""

from typing import Any

import pytest

from config.errors import Level, dotted
from tests.unit.validation.override_drafts import ROLE, THEIR_SCRIPTS, WORK, continuous, of_work

OF_WORK = {"NodeType": "Compute", "PartitionNames": ["dev"]}
AMI_BASED = ({"NodeType": "Controller"}, {"NodeType": "Login"}, OF_WORK)
SOURCE = "s3://sagemaker-theirs/src"
HERE = f"instance_groups[{WORK}].overrides."


def rules_and_places(draft: Any) -> list[str]:
    """Return each problem as its level, its rule and its place, without the path to the compute group's overrides."""
    return [f"{each.level.value} {each.rule}: {dotted(each.path).removeprefix(HERE)}" for each in draft.problems()]


def ami_based(draft: Any) -> Any:
    """Return AWS's simplest cluster: no scripts, a SlurmConfig in each group."""
    for index, slurm in enumerate(AMI_BASED):
        draft.set("instance_groups", index, "overrides", {"LifeCycleConfig": None, "SlurmConfig": slurm})
    return draft


def test_slurm_config_without_scripts_is_right(draft: Any) -> None:
    assert ami_based(draft).lines() == []
    assert draft.set("overrides", "Orchestrator", {"Slurm": {"SlurmConfigStrategy": "Managed"}}).lines() == []


def test_slurm_config_without_scripts_is_right_with_continuous_provisioning(draft: Any) -> None:
    assert ami_based(draft).set("overrides", "NodeProvisioningMode", "Continuous").lines() == []


def test_slurm_config_with_scripts_in_another_bucket_is_right(draft: Any) -> None:
    assert continuous(draft).remove("overrides").lines() == []


def test_default_scripts_in_one_group_conflict_with_slurm_configs_of_others(draft: Any) -> None:
    ami_based(draft).remove("instance_groups", WORK, "overrides")
    head, door = draft.lines()
    assert head.startswith("instance_groups[0].overrides.SlurmConfig: ")
    assert head.endswith("; also set `LifeCycleConfig: null` and `SlurmConfig` in work, or set `slurm.setup: api`")
    assert door.startswith("instance_groups[1].overrides.SlurmConfig: ")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, []),
        ({"OnCreate": "on_create.sh"}, []),
        ({"SourceS3Uri": SOURCE}, []),
        ({"OnCreate": None, "OnInitComplete": "on_create.sh"}, []),
        ({"OnCreate": None}, ["LifeCycleConfig"]),
        ({"SourceS3Uri": None}, ["LifeCycleConfig.SourceS3Uri"]),
        ({"SourceS3Uri": None, "OnCreate": None}, ["LifeCycleConfig"]),
        ({"SourceS3Uri": None, "OnCreate": None, "OnInitComplete": "a.sh"}, ["LifeCycleConfig.SourceS3Uri"]),
        ({"SourceS3Uri": SOURCE, "OnCreate": None}, ["LifeCycleConfig"]),
    ],
)
def test_lifecycle_config_names_a_script_and_its_folder(draft: Any, given: Any, expected: list[str]) -> None:
    of_work(draft, "LifeCycleConfig", given).set("instance_groups", WORK, "overrides", "ExecutionRole", ROLE)
    assert rules_and_places(draft) == [f"error incomplete-lifecycle-config: {place}" for place in expected]


def test_a_group_without_scripts_and_slurm_config_is_an_error(draft: Any) -> None:
    [line] = of_work(draft, "LifeCycleConfig", None).lines()
    assert line.endswith("or add `SlurmConfig: {NodeType: Compute, PartitionNames: [dev]}`")
    [line] = ami_based(draft).remove("instance_groups", 0, "overrides", "SlurmConfig").lines()
    assert line.endswith("or add `SlurmConfig: {NodeType: Controller}`")


@pytest.mark.parametrize("kind", ["FsxLustreConfig", "FsxOpenZfsConfig"])
def test_fsx_without_a_vpc_is_an_error(draft: Any, kind: str) -> None:
    lustre = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountPath": "/shared"}
    mount = {**lustre, **({"MountName": "abcdefgh"} if kind == "FsxLustreConfig" else {})}
    of_work(ami_based(draft), "InstanceStorageConfigs", [{kind: mount}]).set("storage", {})
    assert rules_and_places(draft) == []
    draft.set("overrides", "VpcConfig", None)
    assert rules_and_places(draft) == [f"error fsx-without-vpc-config: InstanceStorageConfigs[0].{kind}"]


def test_restricted_ssh_on_hyperpods_own_image_is_a_warning(draft: Any) -> None:
    [problem] = draft.set("slurm", "restrict_ssh", True).problems()
    assert (problem.rule, problem.level) == ("pam-slurm-adopt-missing", Level.WARNING)
    assert "set `image_id` in work" in problem.fix


@pytest.mark.parametrize("overrides", [{"ImageId": "ami-0123456789abcdef0"}, THEIR_SCRIPTS])
def test_restricted_ssh_without_hyperpods_image_is_no_warning(draft: Any, overrides: Any) -> None:
    draft.set("slurm", "restrict_ssh", True).set("instance_groups", WORK, "overrides", overrides)
    assert rules_and_places(draft) == []


def test_on_create_need_not_be_in_a_folder_from_which_no_group_starts_it(draft: Any) -> None:
    draft.put("own/extend.sh").set("lifecycle", "source", "own")
    assert rules_and_places(draft) == ["error missing-on-create: lifecycle.on_create"]
    for index in range(3):
        scripts = {"OnCreate": None, "OnInitComplete": "extend.sh"}
        draft.set("instance_groups", index, "overrides", "LifeCycleConfig", scripts)
    assert rules_and_places(draft) == []


def test_with_the_api_an_oncreate_script_is_the_one_to_remove(draft: Any) -> None:
    draft.set("slurm", "setup", "api").set("instance_groups", 2, "overrides", {"LifeCycleConfig": {"OnCreate": "on_create.sh"}})
    [problem] = draft.problems()
    assert problem.path == ("instance_groups", 2, "overrides", "LifeCycleConfig", "OnCreate")
    assert problem.message.startswith("cannot be combined with OnInitComplete")


def test_no_eks_section_is_a_slurm_cluster_whose_groups_need_a_role(draft: Any) -> None:
    draft.set("eks", None).remove("instance_groups", 2, "role")
    assert ("missing-field", ("instance_groups", 2, "role")) in [(each.rule, each.path) for each in draft.problems()]
