"""The field's reference clusters import, validate, and ask for the same."""

import pytest

from cli.import_cluster import Choices, Keep, imported
from config.errors import dotted
from config.model import slurm_of
from tests.unit.cli.import_cluster.originals import API_ZONES, reference, valid
from validation.load import parse_cluster

KEY = "arn:aws:kms:us-west-2:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize("name", API_ZONES)
def test_fields_say_what_slurm_configs_said(name: str) -> None:
    original = reference(name)
    config = valid(imported(original, Choices(zone=API_ZONES[name])))
    assert [
        {"NodeType": str(group.role).title(), **({"PartitionNames": [group.partition]} if group.partition else {})}
        for group in config.instance_groups
    ] == [group["SlurmConfig"] for group in original.groups]
    assert all(group.overrides == {} for group in config.instance_groups)
    assert config.overrides == ({"Orchestrator": None} if name == "custom-scripts" else {})


def test_continuous_provisioning_and_what_it_allows_are_fields() -> None:
    config = valid(imported(reference("continuous"), Choices()))
    assert config.provisioning == "continuous"
    assert config.storage.lustre is not None
    gpus = config.instance_groups[1]
    assert (gpus.capacity, gpus.min_instance_count, gpus.volume_gib) == ("spot", 4, 1000)
    assert [group.volume_key_arn for group in config.instance_groups] == [KEY, KEY]
    accounting = slurm_of(config).accounting
    assert (accounting.database, accounting.schema_name, accounting.port) == ("managed", "slurm_acct", 3306)


def test_a_partition_with_dots_is_taken_over_where_scripts_set_slurm_up() -> None:
    config = valid(imported(reference("distributed-training"), Choices()))
    assert [group.partition for group in config.instance_groups] == [None, "ml.g5.48xlarge"]


def test_a_partition_with_dots_is_refused_in_a_slurm_config() -> None:
    text = imported(reference("distributed-training"), Choices()).text
    slurm = "    overrides: {SlurmConfig: {NodeType: Compute, PartitionNames: [ml.g5.48xlarge]}}\n"
    problems = parse_cluster(text.replace("\nslurm:", f"{slurm}\nslurm:").encode(), "draft")
    assert isinstance(problems, list)
    assert [dotted(problem.path) for problem in problems] == [
        "instance_groups[1].overrides.SlurmConfig",  # beside our scripts
        "instance_groups[1].overrides.SlurmConfig.PartitionNames[0]",
    ]


def test_the_region_is_that_of_the_file_system_and_the_zone_is_to_be_chosen() -> None:
    made = imported(reference("distributed-training"), Choices())
    config = valid(made)
    assert (config.region, config.network.availability_zone_id) == ("us-east-1", "use1-az1")
    assert "Choose the zone" in made.text
    assert "use1-az4" in made.text


def test_what_becomes_new_is_named_with_what_it_was() -> None:
    text = imported(reference("login-node"), Choices()).text
    assert "# New: the nodes' role, instead of arn:aws:iam::111122223333:role/AmazonSagemakerExecutionRole." in text
    assert "instead of s3://sagemaker-hyperpod-lifecycle/src." in text
    assert "# A new network; the original was in subnet-01a2bc3456d78ef90, sg-0a1b2c3d4e5f67890." in text
    assert "does not reach the original's, fs-12345678a90b01cde.fsx.us-west-2.amazonaws.com" in text.replace("\n# ", " ")


def test_a_network_that_is_kept_keeps_its_file_system() -> None:
    choices = Choices(keep=Keep.NETWORK, vpc_id="vpc-0123456789abcdef0", zone="usw2-az4")
    config = valid(imported(reference("login-node"), choices))
    assert config.storage.existing is not None
    assert (config.storage.existing.file_system_id, config.storage.existing.mount_name) == ("fs-12345678a90b01cde", "1abcdefg")
    assert config.network.existing is not None
    assert config.network.existing.node_subnet_ids == ("subnet-01a2bc3456d78ef90",)
