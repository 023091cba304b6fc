"""Rules about `overrides` beyond the API's own checks."""

from typing import Any

import pytest

from config.errors import dotted
from tests.unit.validation.override_drafts import (
    EBS,
    EXISTING,
    KEY,
    LUSTRE,
    NETWORK,
    PLAN,
    ROLE,
    SECRET,
    WORK,
    accounting,
    continuous,
    of_work,
)

OPENZFS = {"DnsName": "fs-1123456789abcdef0.fsx.us-west-2.amazonaws.com"}
OURS = f"arn:aws:kms:us-west-2:123456789012:{KEY}"


KMS = f"arn:aws:kms:us-west-2:123456789012:{KEY}"


def told(draft: Any) -> list[str]:
    """Return each problem's rule and path, relative to the compute group's overrides if possible."""
    group = f"instance_groups[{WORK}].overrides."
    return [f"{problem.rule}: {dotted(problem.path).removeprefix(group)}" for problem in draft.problems()]


@pytest.mark.parametrize(
    ("member", "value", "expected"),
    [
        ("ThreadsPerCore", 2, []),  # the file does not give threads_per_core
        ("InstanceType", "ml.p5.48xlarge", ["override-replaces-field: InstanceType"]),
        ("LifeCycleConfig", {"OnInitComplete": "on_create.sh", "OnCreate": None}, []),
        ("LifeCycleConfig", {"OnInitComplete": "on_create.sh"}, ["lifecycle-script-conflict: LifeCycleConfig.OnInitComplete"]),
        ("ImageId", "ami-0123456789abcdef0", []),
        ("TrainingPlanArn", PLAN, []),
        ("TrainingPlanArn", PLAN.replace("us-west-2", "us-west-1"), ["training-plan-region: TrainingPlanArn"]),
        ("OverrideVpcConfig", NETWORK, []),
        (
            "OverrideVpcConfig",
            {"Subnets": NETWORK["SecurityGroupIds"], "SecurityGroupIds": ["SG-01234567"]},
            ["vpc-resource-ids: OverrideVpcConfig.Subnets[0]", "vpc-resource-ids: OverrideVpcConfig.SecurityGroupIds[0]"],
        ),
        ("ExecutionRole", ROLE, []),
        ("AutoPatchConfig", {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 3600}, []),
        (
            "AutoPatchConfig",
            {"PatchingStrategy": "DrainFirst", "DrainPolicy": {"OnDrainTimeout": "Skip"}},
            ["eks-only-option: AutoPatchConfig.DrainPolicy"],
        ),
    ],
)
def test_a_member_of_a_group(draft: Any, member: str, value: object, expected: list[str]) -> None:
    draft.set("slurm", "metadata_access", "all")  # what a role requires
    assert told(of_work(draft, member, value)) == expected


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{EBS: {"VolumeSizeInGB": 500}}, {EBS: {"RootVolume": True, "VolumeKmsKeyId": OURS}}], []),
        ([{EBS: {"VolumeKmsKeyId": OURS}}], ["volume-size-and-key: [0].EbsVolumeConfig.VolumeSizeInGB"]),
        (
            [{EBS: {"RootVolume": True, "VolumeSizeInGB": 500}}],
            [
                "volume-size-and-key: [0].EbsVolumeConfig.VolumeKmsKeyId",
                "volume-size-and-key: [0].EbsVolumeConfig.VolumeSizeInGB",
            ],
        ),
        ([{EBS: {"VolumeSizeInGB": 1}}] * 3, ["duplicate-instance-storage: [1].EbsVolumeConfig"]),
        ([{"FsxLustreConfig": LUSTRE}], ["mount-path-conflict: [0].FsxLustreConfig.MountPath"]),
        ([{"FsxOpenZfsConfig": OPENZFS}], []),
        ([{"FsxLustreConfig": {**LUSTRE, "MountPath": "/scratch"}}], []),
        ([{"FsxLustreConfig": {**LUSTRE, "MountPath": "/fsxx"}}], []),
        ([{"FsxLustreConfig": {**LUSTRE, "MountPath": "/fsx/more"}}], ["mount-path-conflict: [0].FsxLustreConfig.MountPath"]),
        ([{"FsxLustreConfig": {**LUSTRE, "MountPath": "/proc/x"}}], ["mount-path-conflict: [0].FsxLustreConfig.MountPath"]),
        ([{"FsxLustreConfig": {**LUSTRE, "MountPath": "/opt/../etc"}}], ["mount-path-conflict: [0].FsxLustreConfig.MountPath"]),
        (
            [{"FsxLustreConfig": {**LUSTRE, "MountPath": "/a/b"}}, {"FsxOpenZfsConfig": {**OPENZFS, "MountPath": "/a"}}],
            ["mount-path-conflict: [1].FsxOpenZfsConfig.MountPath"],
        ),
    ],
)
def test_storage_that_hyperpod_attaches(draft: Any, entries: list[Any], expected: list[str]) -> None:
    found = [
        line.replace("InstanceStorageConfigs", "") for line in told(of_work(continuous(draft), "InstanceStorageConfigs", entries))
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("member", "value", "expected"),
    [
        ("TieredStorageConfig", {"Mode": "Enable"}, ["eks-only-option: overrides.TieredStorageConfig"]),
        (
            "Orchestrator",
            {"Slurm": {"SlurmConfigStrategy": "Overwrite"}},
            ["slurm-config-conflict: overrides.Orchestrator.Slurm"],
        ),
        ("Orchestrator", None, []),
        ("VpcConfig", None, ["missing-vpc-config: overrides.VpcConfig"]),
        ("NodeRecovery", "Automatic", []),
    ],
)
def test_a_member_of_the_cluster(draft: Any, member: str, value: object, expected: list[str]) -> None:
    assert told(draft.set("overrides", {member: value})) == expected


def test_a_cluster_without_a_network_needs_neither_file_system_nor_networks_of_groups(draft: Any) -> None:
    draft.set("overrides", {"VpcConfig": None}).set("storage", {})
    assert told(draft) == []
    of_work(draft, "OverrideVpcConfig", NETWORK)
    [line] = draft.lines()
    assert line == "overrides.VpcConfig: null: required by group work; remove this line"


@pytest.mark.parametrize("section", ["AutoPatchConfig", "ScheduledUpdateConfig"])
@pytest.mark.parametrize(("kind", "value", "is_wrong"), [("CAPACITY_PERCENTAGE", 101, True), ("INSTANCE_COUNT", 101, False)])
def test_percentages_end_at_100(draft: Any, section: str, kind: str, value: int, *, is_wrong: bool) -> None:
    beside = {
        "AutoPatchConfig": {"PatchingStrategy": "WhenIdle"},
        "ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 3 * * ?)"},
    }
    policy = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": kind, "Value": value}}}
    of_work(draft, section, {**beside[section], "DeploymentConfig": policy})
    path = f"{section}.DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize.Value"
    assert told(draft) == [f"patching-strategy: {path}"] * is_wrong


def test_valid_continuous_provisioning_is_accepted(draft: Any) -> None:
    assert told(of_work(continuous(draft), "MinInstanceCount", 2)) == []


def test_continuous_provisioning_names_the_groups_that_lack_something(draft: Any) -> None:
    continuous(draft).remove("instance_groups", WORK, "overrides", "SlurmConfig")
    [line] = draft.lines()
    assert "requires `SlurmConfig` and other scripts in work; " in line


def test_continuous_provisioning_has_neither_strategy_nor_several_controllers(draft: Any) -> None:
    continuous(draft).set("overrides", "Orchestrator", {"Slurm": {"SlurmConfigStrategy": "Merge"}})
    draft.set("instance_groups", 0, "instance_count", 2)
    draft.set("slurm", {"setup": "scripts", "state_folder": "/fsx/slurm", "accounting": {"database": "none"}})
    assert told(draft) == [
        "continuous-provisioning: instance_groups[0].instance_count",
        "slurm-config-strategy-conflict: overrides.Orchestrator.Slurm.SlurmConfigStrategy",
    ]


def test_options_of_continuous_provisioning_are_reported_without_it(draft: Any) -> None:
    of_work(continuous(draft), "CapacityRequirements", {"Spot": {}})
    database = {"Endpoint": "db.example.com", "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:db-AbCdEf"}
    draft.set("overrides", {"Orchestrator": {"Slurm": {"AccountingDatabase": database}}})
    assert told(draft) == [
        "requires-continuous-provisioning: CapacityRequirements.Spot",
        "requires-continuous-provisioning: overrides.Orchestrator.Slurm.AccountingDatabase",
    ]


def test_the_slurm_config_of_a_compute_group_names_its_partition(draft: Any) -> None:
    [line] = continuous(draft).set("instance_groups", WORK, "overrides", "SlurmConfig", {"NodeType": "Compute"}).lines()
    assert line.endswith(".SlurmConfig.PartitionNames: required for a Compute group; add [dev]")


def test_a_partition_in_the_slurm_config_of_a_controller_is_reported(draft: Any) -> None:
    slurm = {"NodeType": "Controller", "PartitionNames": ["dev"]}
    [line] = continuous(draft).set("instance_groups", 0, "overrides", "SlurmConfig", slurm).lines()
    assert line.endswith('"dev": differs from the group\'s `partition`; remove it, as the group has no partition')


def test_groups_of_one_partition_in_one_network_are_fine(draft: Any) -> None:
    work = {
        **draft.set("network", "existing", EXISTING).content["instance_groups"][WORK],
        "overrides": {"OverrideVpcConfig": NETWORK},
    }
    draft.content["instance_groups"][WORK:] = [work, {**work, "name": "more"}]
    assert told(draft) == []


def test_subnets_of_groups_in_a_declared_partition_are_compared(draft: Any) -> None:
    work = draft.set("network", "existing", EXISTING).content["instance_groups"][WORK]
    apart = {**work, "name": "more", "partition": "other", "overrides": {"OverrideVpcConfig": NETWORK}}
    draft.content["instance_groups"].append(apart)
    assert told(draft) == []
    both = {"name": "all", "groups": ["work", "more"]}
    draft.set("slurm", "partitions", [both])
    assert told(draft) == ["efa-partition-subnets: slurm.partitions[0].groups[1]"]
    draft.set("instance_groups", 3, "instance_type", "ml.m5.xlarge")
    assert told(draft) == []


def test_the_clusters_subnets_as_a_groups_own_are_the_same_subnets(draft: Any) -> None:
    existing = {
        "vpc_id": "vpc-0123456789abcdef0",
        "node_subnet_ids": NETWORK["Subnets"],
        "security_group_id": "sg-0123456789abcdef0",
    }
    draft.set("network", "existing", existing)
    more = {**draft.content["instance_groups"][WORK], "name": "more", "overrides": {"OverrideVpcConfig": NETWORK}}
    draft.content["instance_groups"].append(more)
    assert told(draft) == []


@pytest.mark.parametrize(
    ("key", "rights"), [({}, "GetSecretValue for"), ({"secret_key_arn": KMS}, "GetSecretValue and kms:Decrypt")]
)
def test_a_controllers_own_role_must_read_the_accounting_secret(draft: Any, key: dict[str, str], rights: str) -> None:
    accounting(draft, **key).set("instance_groups", 0, "overrides", "ExecutionRole", ROLE).set("slurm", "metadata_access", "all")
    [line] = draft.lines()
    assert line.startswith("instance_groups[0].overrides.ExecutionRole: ")
    assert rights in line
    draft.remove("instance_groups", 0, "overrides").set("instance_groups", WORK, "execution_role", ROLE)
    assert draft.lines() == []


def test_checks_in_overrides_are_checks(draft: Any) -> None:
    of_work(draft, "OnStartDeepHealthChecks", ["InstanceStress"])
    assert told(draft) == ["deep-health-check-timeout: wait_hours"]
    draft.set("wait_hours", 3).set("instance_groups", 1, "overrides", {"OnStartDeepHealthChecks": ["InstanceStress"]})
    assert told(draft) == ["deep-health-check-types: instance_groups[1].overrides.OnStartDeepHealthChecks"]


def test_connectivity_is_measured_over_efa(draft: Any) -> None:
    draft.set("wait_hours", 3).set("instance_groups", WORK, "instance_type", "ml.g6.xlarge")
    draft.set("instance_groups", WORK, "deep_health_checks", ["InstanceConnectivity"])
    [line] = draft.lines()
    assert line.endswith("InstanceConnectivity requires EFA, which ml.g6.xlarge does not have; remove it")


@pytest.mark.parametrize(("account", "is_wrong"), [("123456789012", False), ("210987654321", True), (None, False)])
def test_a_plan_of_another_account_is_reported_if_the_file_sets_account(
    draft: Any, account: str | None, *, is_wrong: bool
) -> None:
    if account:
        draft.set("account", account)
    assert told(of_work(draft, "TrainingPlanArn", PLAN)) == ["training-plan-account: TrainingPlanArn"] * is_wrong


def test_without_a_region_nothing_is_of_another_one(draft: Any) -> None:
    draft.remove("region")
    draft.set("alarm_topic_arn", "arn:aws:sns:us-east-1:123456789012:alarms")
    draft.set("storage", "openzfs", "dns_name", "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com")
    of_work(draft, "TrainingPlanArn", PLAN.replace("us-west-2", "us-east-1"))
    assert told(draft) == []


@pytest.mark.parametrize(
    ("region", "zone", "topic", "expected"),
    [
        ("us-gov-west-1", "usgw1-az1", "arn:aws-us-gov:sns:us-gov-west-1:123456789012:alarms", []),
        ("us-gov-west-1", "usgw1-az1", "arn:aws:sns:us-gov-west-1:123456789012:alarms", ["arn-partition: alarm_topic_arn"]),
        ("us-gov-west-1", "usgw1-az1", "arn:aws:sns:us-east-1:123456789012:alarms", ["topic-region: alarm_topic_arn"]),
        ("us-west-2", "usw2-az1", "arn:aws-cn:sns:us-west-2:123456789012:alarms", ["arn-partition: alarm_topic_arn"]),
    ],
)
def test_an_arn_is_of_its_regions_partition(draft: Any, region: str, zone: str, topic: str, expected: list[str]) -> None:
    draft.set("region", region).set("network", "availability_zone_id", zone)
    assert told(draft.set("alarm_topic_arn", topic)) == expected


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (ROLE, []),
        (ROLE.replace("123456789012", "210987654321"), ["execution-role-account"]),
        (ROLE.replace("arn:aws:", "arn:aws-cn:"), ["arn-partition"]),
    ],
)
def test_a_field_and_an_override_of_the_role_have_the_same_problems(draft: Any, role: str, expected: list[str]) -> None:
    draft.set("account", "123456789012")
    scripts = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-theirs/src"}}
    draft.set("instance_groups", WORK, "overrides", scripts).set("instance_groups", WORK, "execution_role", role)
    assert [(each.rule, each.path) for each in draft.problems()] == [
        (rule, ("instance_groups", WORK, "execution_role")) for rule in expected
    ]
    draft.remove("instance_groups", WORK, "execution_role")
    assert told(of_work(draft, "ExecutionRole", role)) == [f"{rule}: ExecutionRole" for rule in expected]


def test_a_role_is_of_the_partition_of_the_clusters_region(draft: Any) -> None:
    of_work(draft, "ExecutionRole", ROLE).set("slurm", "metadata_access", "all")
    assert told(draft) == []
    draft.set("region", "us-gov-west-1").set("network", "availability_zone_id", "usgw1-az1")
    assert told(draft) == ["arn-partition: ExecutionRole"]


def test_policies_and_resources_of_the_node_role_are_of_the_partition_of_the_clusters_region(draft: Any) -> None:
    statement = {"Effect": "Allow", "Action": ["s3:GetObject"]}
    draft.set("slurm", "metadata_access", "all").set(
        "node_role",
        {
            "managed_policy_arns": ["arn:aws-cn:iam::aws:policy/ReadOnlyAccess"],
            "permissions_boundary_arn": "arn:aws-cn:iam::123456789012:policy/limit",
            "statements": [
                {**statement, "Resource": ["*", "arn:aws*:s3:::a/*", "arn:aws:s3:::a/*", "arn:aws-cn:s3:::a/*"]},
            ],
        },
    )
    assert told(draft) == [
        "arn-partition: node_role.managed_policy_arns[0]",
        "arn-partition: node_role.permissions_boundary_arn",
        "arn-partition: node_role.statements[0].Resource[3]",
    ]


def test_of_a_region_that_is_newer_than_the_release_no_partition_is_known(draft: Any) -> None:
    of_work(draft, "ExecutionRole", ROLE.replace("arn:aws:", "arn:aws-eusc:")).set("slurm", "metadata_access", "all")
    draft.set("region", "eusc-fr-west-1").set("network", "availability_zone_id", "euscf1-az1")
    assert told(draft) == ["known-region: region"]


@pytest.mark.parametrize(
    ("given", "is_told"),
    [
        ({"SecurityGroupIds": ["sg-0123456789abcdef0", "sg-1123456789abcdef0"]}, False),
        ({"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-1123456789abcdef0", "sg-0123456789abcdef0"]}, False),
        ({"SecurityGroupIds": ["sg-1123456789abcdef0"]}, True),
        ({"Subnets": ["subnet-1123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}, True),
        ({"Subnets": ["subnet-0123456789abcdef0"]}, False),
    ],
)
def test_a_second_security_group_is_the_same_network(draft: Any, given: dict[str, list[str]], *, is_told: bool) -> None:
    existing = {
        "vpc_id": "vpc-01234567",
        "node_subnet_ids": NETWORK["Subnets"],
        "security_group_id": NETWORK["SecurityGroupIds"][0],
    }
    draft.set("network", "existing", existing).set("overrides", "VpcConfig", given)
    assert told(draft) == ["vpc-config-override: overrides.VpcConfig"] * is_told


def test_fields_of_continuous_provisioning_are_reported_without_it(draft: Any) -> None:
    draft.set("instance_groups", WORK, "capacity", "spot").set("instance_groups", WORK, "volume_gib", 500)
    draft.set("instance_groups", WORK, "volume_key_arn", f"arn:aws:kms:us-west-2:123456789012:{KEY}")
    assert told(draft) == [
        f"requires-continuous-provisioning: instance_groups[{WORK}].capacity",
        f"requires-continuous-provisioning: instance_groups[{WORK}].volume_key_arn",
    ]
    assert told(draft.set("slurm", {"setup": "api"}).set("provisioning", "continuous")) == []


@pytest.mark.parametrize("capacity", ["on_demand", "spot"])
def test_a_training_plan_excludes_other_capacity(draft: Any, capacity: str) -> None:
    draft.set("slurm", {"setup": "api"}).set("provisioning", "continuous")
    draft.set("instance_groups", WORK, "training_plan_arn", PLAN).set("instance_groups", WORK, "capacity", "training_plan")
    assert told(draft) == []
    draft.set("instance_groups", WORK, "capacity", capacity)
    assert told(draft) == [f"training-plan-capacity: instance_groups[{WORK}].capacity"]
    draft.remove("instance_groups", WORK, "training_plan_arn")
    assert told(draft) == []
    of_work(draft, "TrainingPlanArn", PLAN)
    assert told(draft) == [f"training-plan-capacity: instance_groups[{WORK}].capacity"]


def test_a_key_of_another_region_is_reported_once(draft: Any) -> None:
    draft.set("slurm", {"setup": "api"}).set("provisioning", "continuous").set("instance_groups", WORK, "volume_gib", 500)
    draft.set("instance_groups", WORK, "volume_key_arn", f"arn:aws:kms:us-east-1:123456789012:{KEY}")
    assert told(draft) == [f"volume-key-region: instance_groups[{WORK}].volume_key_arn"]


@pytest.mark.parametrize(
    ("storage", "is_lost"),
    [
        ([{EBS: {"VolumeSizeInGB": 10}}], True),
        ([], True),
        (None, True),
        ([{EBS: {"VolumeSizeInGB": 10, "VolumeKmsKeyId": OURS}}], True),  # the root volume keeps HyperPod's key
        ([{EBS: {"VolumeSizeInGB": 10}}, {EBS: {"RootVolume": True, "VolumeKmsKeyId": OURS}}], True),
        ([{EBS: {"RootVolume": True, "VolumeKmsKeyId": OURS[:-1] + "0"}}], True),
        ([{EBS: {"VolumeSizeInGB": 10, "VolumeKmsKeyId": OURS}}, {EBS: {"RootVolume": True, "VolumeKmsKeyId": OURS}}], False),
    ],
)
def test_an_override_must_not_drop_the_key_of_volumes(draft: Any, storage: list[Any] | None, *, is_lost: bool) -> None:
    draft.set("slurm", {"setup": "api"}).set("provisioning", "continuous").set("storage", {})
    draft.set("instance_groups", WORK, "volume_key_arn", OURS)
    assert told(draft) == []
    of_work(draft, "InstanceStorageConfigs", storage)
    assert told(draft) == ["volume-key-override: InstanceStorageConfigs"] * is_lost


DATABASE = {"Endpoint": "db.example.com", "SecretArn": SECRET}


@pytest.mark.parametrize(
    ("database", "override", "is_reported"),
    [
        ("managed", None, True),
        ("managed", {"Slurm": {"AccountingDatabase": None}}, True),
        ("managed", {"Slurm": {"AccountingDatabase": {"Port": None}}}, False),
        ("managed", {"Slurm": {}}, False),
        ("local", {"Slurm": {"AccountingDatabase": DATABASE}}, True),
        ("external", {"Slurm": {"AccountingDatabase": DATABASE}}, True),
        ("local", None, False),
    ],
)
def test_overrides_must_not_contradict_the_accounting_database(
    draft: Any, database: str, override: object, *, is_reported: bool
) -> None:
    given = {} if database == "local" else {"host": "db.example.com", "secret_arn": SECRET}
    draft.set("slurm", {"setup": "api", "accounting": {"database": database, **given}}).set("provisioning", "continuous")
    assert told(draft) == []
    draft.set("overrides", "Orchestrator", override)
    path = "overrides.Orchestrator.Slurm.AccountingDatabase"
    assert told(draft) == [f"accounting-database-override: {path}"] * is_reported
