"""What of an original is in the file, in which field, and what the comments say of the rest."""

from pathlib import Path

import pytest

from cli.import_cluster import Choices, Keep, Original, imported
from cli.import_cluster.check import unequal
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError
from config.model import ClusterConfig, NodeRecovery, slurm_of
from tests.unit.cli.import_cluster.originals import PARAMETERS, REQUEST, ROLE, SOURCE, Json, changed, import_of, valid
from tests.unit.validation.override_drafts import RESTRICTED
from validation.checked_file import check_source

NETWORK = Choices(keep=Keep.NETWORK, vpc_id="vpc-0123456789abcdef0", zone="usw2-az4")
EVERYTHING = Choices(keep=Keep.EVERYTHING, vpc_id="vpc-0123456789abcdef0", zone="usw2-az4")
WORK = ("InstanceGroups", 2)


def config_of(request: Json, choices: Choices | None = None, parameters: Json | None = PARAMETERS) -> ClusterConfig:
    """The cluster of a file that validates."""
    return valid(import_of(request, choices, parameters))


def test_friendly_fields_are_used_where_they_say_it_all() -> None:
    request = changed(REQUEST, *WORK, "InstanceStorageConfigs", [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}])
    work = config_of(changed(request, *WORK, "OnStartDeepHealthChecks", ["InstanceStress"])).instance_groups[2]
    assert (work.volume_gib, work.deep_health_checks, work.threads_per_core, work.overrides) == (500, ("InstanceStress",), 1, {})


def test_overrides_are_used_where_friendly_fields_say_less() -> None:
    volumes = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": True}}]
    work = config_of(changed(REQUEST, *WORK, "InstanceStorageConfigs", volumes)).instance_groups[2]
    assert (work.volume_gib, work.overrides) == (None, {"InstanceStorageConfigs": volumes})


def test_what_a_request_leaves_out_is_left_out() -> None:
    request = changed(
        REQUEST, "InstanceGroups", 2, {k: v for k, v in REQUEST["InstanceGroups"][2].items() if k != "ThreadsPerCore"}
    )
    config = config_of(request)
    assert config.instance_groups[2].overrides == {"ThreadsPerCore": None}
    assert "ThreadsPerCore" not in cluster_request(config, values=RequestValues.samples(config))["InstanceGroups"][2]


def test_a_group_of_several_types_has_the_first_as_its_own() -> None:
    group = {k: v for k, v in REQUEST["InstanceGroups"][2].items() if k != "InstanceType"}
    group["InstanceRequirements"] = {"InstanceTypes": ["ml.p5e.48xlarge", "ml.p5.48xlarge"]}
    work = config_of(changed(REQUEST, *WORK, group)).instance_groups[2]
    assert work.instance_type == "ml.p5e.48xlarge"
    assert work.overrides == {"InstanceType": None, "InstanceRequirements": group["InstanceRequirements"]}


def test_the_users_tags_are_taken_over_and_those_of_others_are_not() -> None:
    tags = {"team": "vision", "hyperpod-cdk:stack-id": "x", "aws:cloudformation:stack-name": "y"}
    request = changed(REQUEST, "Tags", [{"Key": key, "Value": value} for key, value in tags.items()])
    assert config_of(request).tags == {"team": "vision"}
    assert "Left out: the tags aws:cloudformation:stack-name, hyperpod-cdk:stack-id" in " ".join(
        import_of(request).text.split("\n# ")
    )


def test_kept_roles_are_fields_and_kept_scripts_are_overrides() -> None:
    group = config_of(REQUEST, EVERYTHING).instance_groups[2]
    assert (group.execution_role, group.overrides) == (ROLE, {"LifeCycleConfig": {"SourceS3Uri": SOURCE}})


def test_a_role_that_is_not_kept_has_no_field() -> None:
    assert config_of(REQUEST).instance_groups[2].execution_role is None


@pytest.mark.parametrize(
    ("script", "overridden"),
    [
        ({"OnCreate": "setup.sh"}, {"OnCreate": "setup.sh"}),
        ({"OnInitComplete": "done.sh"}, {"OnInitComplete": "done.sh", "OnCreate": None}),
    ],
)
def test_scripts_of_another_name_that_are_kept_are_overrides_too(script: dict[str, str], overridden: dict[str, object]) -> None:
    scripts = {"SourceS3Uri": SOURCE, **script}
    config = config_of(changed(REQUEST, *WORK, "LifeCycleConfig", scripts), EVERYTHING)
    assert config.instance_groups[2].overrides["LifeCycleConfig"] == {"SourceS3Uri": SOURCE, **overridden}


def test_the_originals_scripts_come_from_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "setup.sh").write_text("#!/bin/bash\n")
    groups = [
        {**group, "LifeCycleConfig": {"SourceS3Uri": SOURCE, "OnCreate": "setup.sh"}} for group in REQUEST["InstanceGroups"]
    ]
    original = Original({**REQUEST, "InstanceGroups": groups}, PARAMETERS)
    made = imported(original, Choices(scripts="scripts"), folder=tmp_path)
    config = valid(made)
    assert (config.lifecycle.source, config.lifecycle.on_create) == (folder, "setup.sh")
    assert all(group.overrides == {} for group in config.instance_groups)
    assert "# New: the original's scripts, in a bucket of the deployment" in made.text


def test_a_second_security_group_of_a_network_that_is_kept_is_an_override() -> None:
    groups = ["sg-0a1b2c3d4e5f67890", "sg-1a1b2c3d4e5f67890"]
    config = config_of(changed(REQUEST, "VpcConfig", "SecurityGroupIds", groups), NETWORK)
    assert config.network.existing is not None
    assert config.network.existing.security_group_id == groups[0]
    assert config.overrides == {"VpcConfig": {"SecurityGroupIds": groups}}


def test_a_request_without_a_network_keeps_none_or_gets_a_new_one() -> None:
    request = {name: value for name, value in REQUEST.items() if name != "VpcConfig"}
    without_storage = {name: value for name, value in PARAMETERS.items() if not name.startswith("fsx")}
    assert config_of(request, EVERYTHING, without_storage).overrides == {"VpcConfig": None}
    made = import_of(request)
    assert made.problems == ()
    assert "# A new network; the original has none." in made.text


def test_homes_on_openzfs_are_kept_with_the_network_and_reported_without() -> None:
    homes = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
    parameters = {**PARAMETERS, "fsx_openzfs_dns_name": homes}
    kept = config_of(REQUEST, NETWORK, parameters).storage.openzfs
    assert kept is not None
    assert kept.dns_name == homes
    assert f"# Homes were on {homes}, which the new network does not reach" in import_of(REQUEST, None, parameters).text


def test_homes_of_a_file_system_that_is_kept_stay_where_awss_scripts_put_them() -> None:
    made = import_of(REQUEST, NETWORK)
    config = valid(made)
    assert config.storage.homes == "/fsx"
    assert "# AWS's scripts put homes in /fsx. Remove `homes` if the original has them in /fsx/home." in made.text
    assert "# Homes are in /fsx/home; AWS's scripts put them in /fsx." in import_of(REQUEST).text
    assert config_of(REQUEST, EVERYTHING).storage.homes == "/fsx/home"  # the original's scripts decide


@pytest.mark.parametrize(("choices", "named"), [(None, True), (NETWORK, True), (EVERYTHING, False)])
def test_what_awss_scripts_do_and_ours_do_not_is_named(choices: Choices | None, *, named: bool) -> None:
    text = import_of(REQUEST, choices, DOTS).text
    assert all((each in text) == named for each in ("Docker, Enroot and Pyxis", "SSSD", "exporters", "mount-s3"))


def test_a_login_group_that_is_among_the_workers_too_is_a_login_group() -> None:
    """AWS's Terraform modules write such parameters."""
    workers = [{"instance_group_name": "door", "partition_name": "dev"}, *PARAMETERS["worker_groups"]]
    made = import_of(REQUEST, None, {**PARAMETERS, "worker_groups": workers})
    config = valid(made)
    assert [group.role for group in config.instance_groups] == ["controller", "login", "compute"]
    assert "# provisioning_parameters.json lists door as login group and among worker_groups; imported as login" in made.text


# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-multihead-slurm-setup.html
SEVERAL_CONTROLLERS = {
    "slurm_database_secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
    "slurm_database_endpoint": "slurm.cluster-1.us-west-2.rds.amazonaws.com",
    "slurm_shared_directory": "/fsx",
    "slurm_database_user": "slurm",
    "slurm_sns_arn": "arn:aws:sns:us-west-2:111122223333:failover",
}


def test_the_database_and_the_folder_of_several_controllers_are_taken_over() -> None:
    parameters = {**PARAMETERS, "slurm_configurations": SEVERAL_CONTROLLERS}
    made = import_of(changed(REQUEST, "InstanceGroups", 0, "InstanceCount", 2), NETWORK, parameters)
    config = valid(made)
    slurm = slurm_of(config)
    assert (slurm.accounting.database, slurm.state_folder) == ("external", "/fsx/slurm")
    assert slurm.accounting.host == SEVERAL_CONTROLLERS["slurm_database_endpoint"]
    assert slurm.accounting.secret_arn == SEVERAL_CONTROLLERS["slurm_database_secret_arn"]
    assert "# Left out: slurm_database_user, slurm_sns_arn." in made.text


def test_the_port_of_the_database_is_taken_over() -> None:
    slurm = {**SEVERAL_CONTROLLERS, "slurm_database_endpoint": "10.1.2.3:3307"}
    accounting = slurm_of(config_of(REQUEST, NETWORK, {**PARAMETERS, "slurm_configurations": slurm})).accounting
    assert (accounting.host, accounting.port) == ("10.1.2.3", 3307)


def test_the_file_of_scripts_that_are_passed_has_no_database(tmp_path: Path) -> None:
    (tmp_path / "on_create.sh").touch()
    parameters = {**PARAMETERS, "slurm_configurations": SEVERAL_CONTROLLERS}
    text = import_of(REQUEST, Choices(scripts=str(tmp_path)), parameters).text
    assert "# Left out: slurm_configurations, which the generated provisioning_parameters.json lacks" in text


def test_scripts_that_are_kept_keep_their_database() -> None:
    parameters = {**PARAMETERS, "slurm_configurations": SEVERAL_CONTROLLERS}
    assert slurm_of(config_of(REQUEST, EVERYTHING, parameters)).state_folder is None


SLURM_CONFIGS = ({"NodeType": "Controller"}, {"NodeType": "Login"}, {"NodeType": "Compute", "PartitionNames": ["a"]})


def with_slurm_configs(scripts: Json | None) -> Json:
    """Return AWS's tutorial request: a SlurmConfig in each group, with these scripts or without any.

    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    """
    groups = [
        {**{name: value for name, value in group.items() if name != "LifeCycleConfig"}, "SlurmConfig": slurm}
        for group, slurm in zip(REQUEST["InstanceGroups"], SLURM_CONFIGS, strict=True)
    ]
    if scripts is not None:
        groups = [{**group, "LifeCycleConfig": scripts} for group in groups]
    return {**REQUEST, "InstanceGroups": groups, "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}}


def test_a_request_without_scripts_imports_without_a_problem() -> None:
    made = import_of(with_slurm_configs(None), Choices(zone="usw2-az4"), None)
    assert made.problems == ()
    assert check_source(made.text.encode(), "imported", Path()).problems == ()
    assert made.config is not None
    assert [group.overrides["LifeCycleConfig"] for group in made.config.instance_groups] == [None] * 3


def test_our_script_runs_after_hyperpods_set_up_of_slurm() -> None:
    request = with_slurm_configs({"SourceS3Uri": SOURCE, "OnCreate": "on_create.sh"})
    config = config_of(request, Choices(zone="usw2-az4"), None)
    assert slurm_of(config).setup == "api"
    groups = cluster_request(config, values=RequestValues.samples(config))["InstanceGroups"]
    assert [group["LifeCycleConfig"].keys() for group in groups] == [{"SourceS3Uri", "OnInitComplete"}] * 3
    assert [group["SlurmConfig"] for group in groups] == [*SLURM_CONFIGS]


@pytest.mark.parametrize("member", ["OnCreate", "OnInitComplete"])
def test_a_script_of_another_name_is_refused_with_slurm_configs_too(member: str) -> None:
    request = with_slurm_configs({"SourceS3Uri": SOURCE, member: "setup.sh"})
    with pytest.raises(ConfigError, match="is not one of our scripts; keep the original's with --keep everything, or use our"):
        import_of(request, Choices(zone="usw2-az4"), None)


DOTS = {**PARAMETERS, "worker_groups": [{"instance_group_name": "work", "partition_name": "ml.p5"}]}


@pytest.mark.parametrize(
    ("choices", "parameters", "reason"),
    [
        (None, PARAMETERS, "# New: HyperPod sets up Slurm (`slurm.setup: api`, which AWS recommends), instead of"),
        (None, DOTS, "because `slurm.setup: api` does not fit: instance_groups[2].partition: must be letters, digits"),
        (NETWORK, PARAMETERS, "Scripts set up Slurm, as in the original, a part of which is kept."),
    ],
)
def test_hyperpod_sets_up_slurm_of_a_new_cluster_or_the_reason_is_in_the_file(
    choices: Choices | None, parameters: Json, reason: str
) -> None:
    made = import_of(REQUEST, choices, parameters)
    assert (made.problems, made.config and made.config.uses_slurm_api) == ((), reason.startswith("# New"))
    assert reason.removeprefix("# ") in made.text.replace("\n# ", " ")


LUSTRE = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh", "MountPath": "/fsx"}
OPENZFS = {"DnsName": "fs-0123456789abcdef1.fsx.us-west-2.amazonaws.com", "MountPath": "/home"}


def with_storage(*storage: Json) -> Json:
    """Return AWS's tutorial request with this storage in each group."""
    request = with_slurm_configs({"SourceS3Uri": SOURCE, "OnInitComplete": "on_create.sh"})
    groups = [{**group, "InstanceStorageConfigs": list(storage)} for group in request["InstanceGroups"]]
    return {**request, "InstanceGroups": groups}


def test_file_systems_that_hyperpod_mounts_are_kept_with_their_network() -> None:
    request = with_storage({"FsxOpenZfsConfig": OPENZFS}, {"FsxLustreConfig": LUSTRE})
    config = config_of(request, NETWORK, None)
    storage = config.storage
    assert storage.existing is not None
    assert storage.openzfs is not None
    assert (storage.existing.file_system_id, storage.openzfs.dns_name) == ("fs-0123456789abcdef0", OPENZFS["DnsName"])
    assert all(group.overrides == {} for group in config.instance_groups)


@pytest.mark.parametrize(
    "storage",
    [
        [{"FsxLustreConfig": {**LUSTRE, "MountPath": "/shared"}}],
        [{"FsxLustreConfig": {name: LUSTRE[name] for name in ("DnsName", "MountName")}}],
        [{"FsxLustreConfig": {**LUSTRE, "DnsName": "fs-0123456789abcdef0.internal.example.com"}}],
        [{"FsxOpenZfsConfig": {**OPENZFS, "MountPath": "/data"}}],
        [{"FsxLustreConfig": LUSTRE}, {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": False}}],
    ],
)
def test_storage_that_fields_cannot_set_stays_in_overrides(storage: list[Json]) -> None:
    config = config_of(with_storage(*storage), NETWORK, None)
    assert not config.storage.file_systems
    assert [group.overrides for group in config.instance_groups] == [{"InstanceStorageConfigs": storage}] * 3


def test_file_systems_of_some_groups_stay_in_overrides() -> None:
    request = changed(with_storage({"FsxLustreConfig": LUSTRE}), *WORK, "InstanceStorageConfigs", [])
    config = config_of(request, NETWORK, None)
    assert not config.storage.file_systems
    assert config.instance_groups[0].overrides == {"InstanceStorageConfigs": [{"FsxLustreConfig": LUSTRE}]}


def test_a_new_network_does_not_reach_openzfs() -> None:
    made = import_of(with_storage({"FsxOpenZfsConfig": OPENZFS}), Choices(zone="usw2-az4"), None)
    assert "\nstorage:" not in made.text
    assert [problem.path[1] for problem in made.problems if problem.rule == "resources-of-another-network"] == [0, 1, 2]


OURS = "arn:aws:kms:us-west-2:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("volumes", "fields"),
    [
        ([{"VolumeKmsKeyId": OURS, "RootVolume": True}], (None, OURS)),
        ([{"VolumeKmsKeyId": OURS, "RootVolume": True}, {"VolumeSizeInGB": 500, "VolumeKmsKeyId": OURS}], (500, OURS)),
        ([{"VolumeKmsKeyId": OURS, "RootVolume": True}, {"VolumeSizeInGB": 500}], (None, None)),
        ([{"VolumeSizeInGB": 500, "VolumeKmsKeyId": OURS}], (None, None)),
        ([{"VolumeKmsKeyId": "alias/ours", "RootVolume": True}], (None, None)),
    ],
)
def test_one_key_of_both_volumes_is_a_field(volumes: list[Json], fields: tuple[object, ...]) -> None:
    storage = [{"EbsVolumeConfig": volume} for volume in volumes]
    work = config_of(with_storage(*storage), NETWORK, None).instance_groups[2]
    assert (work.volume_gib, work.volume_key_arn) == fields
    assert ("InstanceStorageConfigs" in work.overrides) == (fields == (None, None))


PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"


@pytest.mark.parametrize(
    ("more", "capacity"),
    [
        ({"CapacityRequirements": {"Spot": {}}}, "spot"),
        ({"CapacityRequirements": {"OnDemand": {}}}, "on_demand"),
        ({"CapacityRequirements": {"Spot": {}, "OnDemand": {}}}, None),
        ({"CapacityRequirements": {"OnDemand": {}}, "TrainingPlanArn": PLAN}, None),
    ],
)
def test_one_source_of_capacity_is_a_field(more: Json, capacity: str | None) -> None:
    work = config_of(changed(REQUEST, *WORK, {**REQUEST["InstanceGroups"][2], **more})).instance_groups[2]
    assert work.capacity == capacity
    assert ("CapacityRequirements" in work.overrides) == (capacity is None)


def with_database(secret: str) -> Json:
    """A continuous cluster with an accounting database."""
    given = {"Endpoint": "db.example.com", "SecretArn": f"arn:aws:secretsmanager:us-west-2:111122223333:secret:{secret}"}
    return with_storage() | {"NodeProvisioningMode": "Continuous", "Orchestrator": {"Slurm": {"AccountingDatabase": given}}}


def test_a_managed_database_is_a_section() -> None:
    request = with_database("slurm-AbCdEf")
    config = config_of(request, NETWORK, None)
    assert slurm_of(config).accounting.database == "managed"
    made = cluster_request(config, values=RequestValues.samples(config))
    assert made["Orchestrator"] == request["Orchestrator"]


def test_a_database_that_no_field_accepts_is_reported() -> None:
    made = import_of(with_database("slurm"), NETWORK, None)
    assert [problem.rule for problem in made.problems] == ["accounting-database-override"]
    note = "The accounting database is in `overrides`, as slurm.accounting does not accept its secret_arn; correct and move it."
    assert note in " ".join(made.text.replace("\n#", "").split())


def test_a_script_after_amazons_own_needs_no_on_create_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "extend.sh").write_text("#!/bin/bash\n")
    groups = [
        {**group, "LifeCycleConfig": {"SourceS3Uri": SOURCE, "OnInitComplete": "extend.sh"}}
        for group in REQUEST["InstanceGroups"]
    ]
    original = Original({**REQUEST, "InstanceGroups": groups}, PARAMETERS, "create_cluster.json")
    made = imported(original, Choices(zone="usw2-az4", scripts="scripts"), folder=tmp_path)
    assert made.problems == ()
    assert "on_create" not in made.text
    assert made.config is not None
    assert made.config.instance_groups[0].overrides["LifeCycleConfig"] == {"OnCreate": None, "OnInitComplete": "extend.sh"}


def test_without_parameters_each_groups_slurm_config_says_what_it_is() -> None:
    request = with_slurm_configs({"SourceS3Uri": SOURCE, "OnCreate": "on_create.sh"})
    groups = request["InstanceGroups"]
    config = config_of(request, EVERYTHING, None)
    assert [(str(group.role), group.partition) for group in config.instance_groups] == [
        ("controller", None),
        ("login", None),
        ("compute", "a"),
    ]
    assert slurm_of(config).setup == "api"
    assert [group.overrides for group in config.instance_groups] == [
        {"LifeCycleConfig": {**group["LifeCycleConfig"], "OnInitComplete": None}} for group in groups
    ]
    assert config.overrides == {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}}


def test_parameters_that_nothing_here_reads_are_named() -> None:
    text = import_of(REQUEST, None, {**PARAMETERS, "observability": {"enabled": True}}).text
    assert "# Left out, because our scripts do not use them: the provisioning parameters observability." in text


def test_a_restricted_groups_network_that_repeats_the_clusters_is_left_out_where_the_network_is_new() -> None:
    request = {**REQUEST, "RestrictedInstanceGroups": [{**RESTRICTED, "OverrideVpcConfig": REQUEST["VpcConfig"]}]}
    text = import_of(request).text
    assert "OverrideVpcConfig:" not in text
    assert "# Left out: OverrideVpcConfig of nova, which repeats the original's VpcConfig." in text
    assert "OverrideVpcConfig:" in import_of(request, NETWORK).text


def test_deep_health_checks_get_their_time() -> None:
    checked = changed(REQUEST, *WORK, "OnStartDeepHealthChecks", ["InstanceStress"])
    assert (config_of(checked).wait_hours, config_of(REQUEST).wait_hours) == (3, 1)


def test_a_file_that_asks_for_something_else_is_noticed() -> None:
    config = config_of(REQUEST, EVERYTHING)
    original = Original(REQUEST, PARAMETERS)
    assert unequal(original, EVERYTHING, config) == []
    groups = (*config.instance_groups[:2], config.instance_groups[2].model_copy(update={"instance_count": 5}))
    other = config.model_copy(update={"instance_groups": groups, "node_recovery": NodeRecovery.NONE})
    assert sorted(unequal(original, EVERYTHING, other)) == ["InstanceGroups[2].InstanceCount", "NodeRecovery"]


def test_what_the_rules_require_is_reported_with_the_file() -> None:
    made = import_of(changed(REQUEST, "InstanceGroups", 0, "InstanceCount", 2))
    assert made.config is None
    assert "instance_count: 2" in made.text
    assert ["state_folder" in str(problem) for problem in made.problems] == [True]
