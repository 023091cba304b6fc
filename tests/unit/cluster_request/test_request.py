from dataclasses import replace
from typing import Any

import pytest

from cluster_request.request import RequestValues, cluster_request, merged

VALUES = RequestValues(
    execution_role_arn="arn:aws:iam::123456789012:role/node",
    source_s3_uri="s3://sagemaker-x/lifecycle/abc/",
    subnet_ids=["subnet-a1"],
    security_group_ids=["sg-a1"],
)


KEY = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
OPENZFS = "fs-0123456789abcdef1.fsx.us-west-2.amazonaws.com"


def request(draft: Any) -> Any:
    return cluster_request(draft.config(), values=VALUES)


def test_the_request_of_a_group_matches_the_file(draft: Any) -> None:
    assert request(draft)["InstanceGroups"][2] == {
        "InstanceGroupName": "work",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 4,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-x/lifecycle/abc/", "OnCreate": "on_create.sh"},
        "ExecutionRole": "arn:aws:iam::123456789012:role/node",
        "ThreadsPerCore": 1,
    }


def test_nothing_is_requested_that_the_file_does_not_say(draft: Any) -> None:
    assert request(draft).keys() == {"InstanceGroups", "VpcConfig"}
    assert request(draft)["VpcConfig"] == {"SecurityGroupIds": ["sg-a1"], "Subnets": ["subnet-a1"]}


def test_optional_fields_are_requested_when_the_file_says_them(draft: Any) -> None:
    draft.set("instance_groups", 2, "deep_health_checks", ["InstanceStress"]).set("instance_groups", 2, "volume_gib", 500)
    draft.set("node_recovery", "Automatic").set("tags", {"team": "ml"})
    made = request(draft)
    assert made["InstanceGroups"][2]["OnStartDeepHealthChecks"] == ["InstanceStress"]
    assert made["InstanceGroups"][2]["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    assert made["NodeRecovery"] == "Automatic"
    assert made["Tags"] == [{"Key": "team", "Value": "ml"}]


def storage_of_work(draft: Any) -> Any:
    return request(draft)["InstanceGroups"][2].get("InstanceStorageConfigs")


def test_a_key_encrypts_the_root_volume_and_the_additional_one(draft: Any) -> None:
    root = {"EbsVolumeConfig": {"VolumeKmsKeyId": KEY, "RootVolume": True}}
    assert storage_of_work(draft.set("instance_groups", 2, "volume_key_arn", KEY)) == [root]
    additional = {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": KEY}}
    assert storage_of_work(draft.set("instance_groups", 2, "volume_gib", 500)) == [additional, root]


@pytest.mark.parametrize(("capacity", "member"), [("on_demand", {"OnDemand": {}}), ("spot", {"Spot": {}})])
def test_the_capacity_of_a_group_is_requested(draft: Any, capacity: str, member: object) -> None:
    made = request(draft.set("instance_groups", 2, "capacity", capacity))["InstanceGroups"]
    assert [each.get("CapacityRequirements") for each in made] == [None, None, member]


def test_the_capacity_of_a_training_plan_is_the_plan(draft: Any) -> None:
    plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"
    draft.set("instance_groups", 2, "capacity", "training_plan").set("instance_groups", 2, "training_plan_arn", plan)
    work = request(draft)["InstanceGroups"][2]
    assert work["TrainingPlanArn"] == plan
    assert "CapacityRequirements" not in work


def test_a_managed_database_is_in_the_request(draft: Any) -> None:
    accounting = {"database": "managed", "host": "db.example.com", "secret_arn": SECRET}
    draft.set("slurm", {"setup": "api", "accounting": accounting}).set("provisioning", "continuous")
    expected = {"Endpoint": "db.example.com", "Port": 3306, "SecretArn": SECRET}
    assert request(draft)["Orchestrator"] == {"Slurm": {"AccountingDatabase": expected}}
    draft.set("slurm", "accounting", {**accounting, "port": 3307, "schema_name": "acct_1"})
    expected = {"Endpoint": "db.example.com", "Port": 3307, "Name": "acct_1", "SecretArn": SECRET}
    assert request(draft)["Orchestrator"] == {"Slurm": {"AccountingDatabase": expected}}
    draft.set("slurm", "accounting", {**accounting, "database": "external"})
    assert "Orchestrator" not in request(draft)


def test_overrides_are_merged_at_every_depth_and_win(draft: Any) -> None:
    draft.set("instance_groups", 2, "overrides", {"LifeCycleConfig": {"SourceS3Uri": "s3://theirs/a"}, "ThreadsPerCore": 2})
    draft.set("overrides", {"NodeProvisioningMode": "Continuous", "VpcConfig": {"Subnets": ["subnet-0123456789abcdef0"]}})
    made = request(draft)
    assert made["InstanceGroups"][2]["LifeCycleConfig"] == {"SourceS3Uri": "s3://theirs/a", "OnCreate": "on_create.sh"}
    assert made["InstanceGroups"][2]["ThreadsPerCore"] == 2
    assert made["NodeProvisioningMode"] == "Continuous"
    assert made["VpcConfig"] == {"SecurityGroupIds": ["sg-a1"], "Subnets": ["subnet-0123456789abcdef0"]}


def test_null_in_overrides_leaves_a_member_out(draft: Any) -> None:
    overrides = {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}}
    group = request(draft.set("instance_groups", 2, "overrides", overrides))["InstanceGroups"][2]
    assert "InstanceType" not in group
    assert group["InstanceRequirements"] == {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}


def test_merging_leaves_both_sides_as_they_were() -> None:
    ours, theirs = {"a": {"b": 1}, "c": [1]}, {"a": {"d": {"e": None, "f": 2}}, "c": [2]}
    assert merged(ours, theirs) == {"a": {"b": 1, "d": {"f": 2}}, "c": [2]}
    assert ours == {"a": {"b": 1}, "c": [1]}
    assert theirs == {"a": {"d": {"e": None, "f": 2}}, "c": [2]}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("instance_groups", 2, "overrides", "LifeCycleConfig", "SourceS3URI"),
            "s3://b/x",
            'instance_groups[2].overrides.LifeCycleConfig.SourceS3URI: "s3://b/x": '
            "unknown member of ClusterLifeCycleConfig; did you mean SourceS3Uri?",
        ),
        (
            ("instance_groups", 2, "instance_type"),
            "ml.p5.48xlrge",
            'instance_groups[2].instance_type: "ml.p5.48xlrge": unknown value; '
            "did you mean ml.p5.48xlarge, ml.p5e.48xlarge or ml.p5.4xlarge?",
        ),
        (
            ("instance_groups", 0, "overrides", "AutoPatchConfig"),
            {"PatchingStrategy": "WhenIdel"},
            'instance_groups[0].overrides.AutoPatchConfig.PatchingStrategy: "WhenIdel": '
            "unknown value; did you mean WhenIdle or WhenAllIdle?",
        ),
        (
            ("instance_groups", 2, "overrides", "LifeCycleConfig"),
            {"OnCreat": None},
            "instance_groups[2].overrides.LifeCycleConfig.OnCreat: null: "
            "unknown member of ClusterLifeCycleConfig; did you mean OnCreate?",
        ),
        (
            ("overrides", "NodeRecovry"),
            None,
            "overrides.NodeRecovry: null: unknown member of CreateClusterRequest; did you mean NodeRecovery?",
        ),
        (
            ("tags", "a{b}"),
            "x",
            'tags["a{b}"]: "a{b}": must be letters, digits, spaces or _ . : / = + - @; use e.g. team:speech',
        ),
        (
            ("overrides", "TieredStorageConfig"),
            {},
            "overrides.TieredStorageConfig.Mode: required by ClusterTieredStorageConfig; add it",
        ),
        (
            ("overrides", "NodeRecovery"),
            "Never",
            'overrides.NodeRecovery: "Never": unknown value; use Automatic or None',
        ),
    ],
)
def test_request_problems_have_their_path_in_the_file(draft: Any, path: tuple[str | int, ...], value: object, said: str) -> None:
    parsed = draft.set(*path, value).parsed()
    assert [str(problem) for problem in parsed] == [said]


@pytest.mark.fault(33)
def test_a_request_too_large_for_the_state_machine_reports_both_sizes(draft: Any) -> None:
    labels = {"KubernetesConfig": {"Labels": {f"label-{index}": "v" * 60 for index in range(50)}}}
    work = {**draft.content["instance_groups"][2], "overrides": labels}
    draft.content["instance_groups"] += [{**work, "name": f"work-{index}"} for index in range(90)]
    [problem] = draft.parsed()
    assert problem.rule == "request.size"
    assert str(problem).startswith('instance_groups: "93 groups": the request has ')
    assert "accepts at most 122880" in str(problem)


@pytest.mark.fault(33)
def test_a_hundred_plain_groups_fit(draft: Any) -> None:
    work = draft.content["instance_groups"][2]
    draft.content["instance_groups"] += [{**work, "name": f"work-{index}"} for index in range(97)]
    assert draft.problems() == []


def test_the_samples_of_an_existing_network_are_its_own_ids(draft: Any) -> None:
    draft.set(
        "network",
        "existing",
        {"vpc_id": "vpc-01234567", "node_subnet_ids": ["subnet-01234567"], "security_group_id": "sg-01234567"},
    )
    samples = RequestValues.samples(draft.config())
    assert (samples.subnet_ids, samples.security_group_ids) == (["subnet-01234567"], ["sg-01234567"])


def test_with_the_api_the_request_configures_slurm_and_mounts(draft: Any) -> None:
    draft.set("slurm", "setup", "api").set("storage", "openzfs", {"dns_name": OPENZFS}).set(
        "instance_groups", 2, "volume_gib", 500
    )
    values = replace(VALUES, file_system_dns_name="fs-0a.fsx.us-west-2.amazonaws.com", file_system_mount_name="abcdefgh")
    made = cluster_request(draft.config(), values=values)
    lustre = {"DnsName": "fs-0a.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh", "MountPath": "/fsx"}
    mounts = [{"FsxLustreConfig": lustre}, {"FsxOpenZfsConfig": {"DnsName": OPENZFS, "MountPath": "/home"}}]
    assert made["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": "Merge"}}
    assert [group["SlurmConfig"] for group in made["InstanceGroups"]] == [
        {"NodeType": "Controller"},
        {"NodeType": "Login"},
        {"NodeType": "Compute", "PartitionNames": ["dev"]},
    ]
    assert {tuple(group["LifeCycleConfig"]) for group in made["InstanceGroups"]} == {("SourceS3Uri", "OnInitComplete")}
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 500}}
    assert [group["InstanceStorageConfigs"] for group in made["InstanceGroups"]] == [mounts, mounts, [volume, *mounts]]


def test_with_the_api_and_continuous_provisioning_no_strategy_is_requested(draft: Any) -> None:
    draft.set("slurm", "setup", "api").set("overrides", {"NodeProvisioningMode": "Continuous"})
    assert "Orchestrator" not in request(draft)


def test_continuous_provisioning_is_requested_with_minimums_and_without_a_strategy(draft: Any) -> None:
    draft.set("slurm", "setup", "api").set("provisioning", "continuous").set("instance_groups", 2, "min_instance_count", 3)
    made = request(draft)
    assert made["NodeProvisioningMode"] == "Continuous"
    assert "Orchestrator" not in made
    assert made["InstanceGroups"][2]["MinInstanceCount"] == 3
    assert draft.problems() == []
