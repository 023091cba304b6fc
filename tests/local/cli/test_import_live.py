"""`hpod import --cluster` on a cluster that runs in the embedded AWS, and what `hpod adopt` says of the file that it gives."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.__main__ import main
from cli.adopt import adopt
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.import_cluster import Choices, Imported, Keep, imported
from cli.import_cluster.live import read_live
from cluster_request.request import RequestValues, cluster_request
from config.model import ClusterConfig
from local_aws import testing
from local_aws.credentials import OWNER
from local_aws.server import EmbeddedAws
from tests.simulator.hyperpod.world import REGION, World
from validation.load import load_cluster

pytestmark = pytest.mark.local

PARAMETERS = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "head",
    "worker_groups": [{"instance_group_name": "work", "partition_name": "ml.g5.8xlarge"}],
    "fsx_dns_name": "fs-12345678a90b01cde.fsx.us-west-2.amazonaws.com",
    "fsx_mountname": "1abcdefg",
}
MORE = {
    "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
    "OnStartDeepHealthChecks": ["InstanceStress"],
    "ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 3 ? * SUN *)"},
}
SPEED = 30000.0  # deep health checks take hours
EVERYTHING = Choices(keep=Keep.EVERYTHING)


class Session:
    """A session whose clients are the test's."""

    region_name = REGION

    def __init__(self, world: World) -> None:
        self.client = world.client


@pytest.fixture(scope="module")
def world(aws: EmbeddedAws) -> Iterator[World]:
    """An account with a cluster in it, whose scripts were told what its groups are."""
    with testing.emptied(SPEED):
        world = World(aws.endpoint)
        world.make()
        world.allow_all_but()
        world.put_script("provisioning_parameters.json", json.dumps(PARAMETERS))
        groups = [world.group("head"), world.group("work", 2, InstanceType="ml.g5.8xlarge", **MORE)]
        world.in_service(*groups, name="theirs", Tags=[{"Key": "team", "Value": "vision"}], NodeRecovery="Automatic")
        yield world


def import_live(world: World, choices: Choices = EVERYTHING, name: str = "theirs") -> Imported:
    return imported(*read_live(name, None, choices, session=Session(world)))


def adoption(world: World, made: Imported) -> str:
    """What `hpod adopt` says of the imported file."""
    assert made.config is not None, made.problems
    session: Any = Session(world)
    return str(adopt(Deployment(made.config, session)))


def test_a_cluster_that_runs_gives_a_file_that_adopts_it_and_changes_nothing(world: World) -> None:
    made = import_live(world)
    assert made.problems == ()
    said = adoption(world, made)
    assert "tags to add:\n  hyperpod-cdk:cluster: imported\n" in said
    assert "would adopt it and add these tags and change nothing else" in said
    assert "changes by one UpdateCluster" not in said


def test_roles_network_and_file_system_are_the_clusters(world: World) -> None:
    config = import_live(world).config
    assert config is not None
    network = config.network.existing
    assert network is not None
    assert (network.vpc_id, network.node_subnet_ids) == (world.ids["vpc"], (world.ids["subnet"],))
    assert network.security_group_id == world.ids["security_group"]
    [subnet] = world.ec2.describe_subnets(SubnetIds=[world.ids["subnet"]])["Subnets"]
    assert config.network.availability_zone_id == subnet["AvailabilityZoneId"]
    assert [(str(group.role), group.partition) for group in config.instance_groups] == [
        ("controller", None),
        ("compute", "ml.g5.8xlarge"),
    ]
    assert config.storage.existing is not None
    assert config.storage.existing.mount_name == "1abcdefg"


def test_fields_with_a_friendly_name_come_by_it(world: World) -> None:
    config = import_live(world).config
    assert config is not None
    work = config.instance_groups[1]
    assert (work.volume_gib, [str(check) for check in work.deep_health_checks]) == (500, ["InstanceStress"])
    assert work.overrides["ScheduledUpdateConfig"] == MORE["ScheduledUpdateConfig"]
    assert (config.cluster_name, config.tags, config.node_recovery) == ("theirs", {"team": "vision"}, "Automatic")
    assert config.adopt


def written(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ClusterConfig:
    """Return the cluster of the file that the command writes."""
    variables = {"ENDPOINT_URL": world.endpoint, "ACCESS_KEY_ID": OWNER.access_key, "SECRET_ACCESS_KEY": OWNER.secret_key}
    for name, value in variables.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    file = folder / "mine.yaml"
    assert main(["import", "--from-cluster", "theirs", "--region", REGION, "--write", str(file)]) == 0
    return load_cluster(file)


def test_the_command_writes_the_file(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = written(world, tmp_path, monkeypatch)
    assert (config.cluster_name, config.region, config.adopt) == ("theirs", REGION, True)


def test_a_new_cluster_like_one_that_runs_has_what_a_deployment_makes(world: World) -> None:
    made = import_live(world, Choices(keep=Keep.NOTHING))
    assert made.problems == ()
    assert made.config is not None
    assert not made.config.adopt
    request = cluster_request(made.config, values=RequestValues.samples(made.config))
    assert all(group["ExecutionRole"] != world.role for group in request["InstanceGroups"])
    assert made.config.network.existing is None


def test_a_missing_cluster_is_reported(world: World) -> None:
    with pytest.raises(CommandError, match=f"no cluster another in {REGION}; correct the name, or pass --region"):
        import_live(world, name="another")


def test_parameters_that_are_not_beside_the_scripts_are_asked_for(world: World) -> None:
    world.client("s3").delete_object(Bucket="sagemaker-scripts", Key="lifecycle/1/provisioning_parameters.json")
    with pytest.raises(
        CommandError, match=r"cannot read s3://sagemaker-scripts/lifecycle/1/provisioning_parameters\.json: .*; pass"
    ):
        import_live(world)
    world.put_script("provisioning_parameters.json", json.dumps(PARAMETERS))
