"""`hpod import --from-cluster` of a cluster on EKS that runs in the embedded AWS."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.import_cluster import Choices, Keep
from cluster_request.request import RequestValues, cluster_request
from local_aws import durations, testing
from local_aws.eks import control_planes
from local_aws.server import EmbeddedAws
from tests.local.cli.test_import_live import adoption, import_live, written
from tests.simulator.hyperpod.eks_world import ACCOUNT, EksSite
from tests.simulator.hyperpod.world import REGION, World

pytestmark = pytest.mark.local

KUBERNETES = {"Labels": {"pool": "a"}, "Taints": [{"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}]}
SPEED = 30000.0


@pytest.fixture(scope="module")
def world(aws: EmbeddedAws) -> Iterator[World]:
    """An account with a HyperPod cluster on the EKS cluster `ml`."""
    with testing.emptied(SPEED):
        world = World(aws.endpoint)
        world.make()
        world.allow_all_but()
        durations.change({"eks.create": 1})
        site = EksSite(world)
        site.use_fakes()
        site.make()
        site.create()
        site.install()
        group = world.group("workers", 2, InstanceType="ml.g5.8xlarge", KubernetesConfig=KUBERNETES)
        settings = site.settings(NodeProvisioningMode="Continuous", NodeRecovery="Automatic")
        world.in_service(group, name="theirs", Tags=[{"Key": "team", "Value": "vision"}], **settings)
        yield world
        control_planes.use(control_planes.REAL)
        durations.reset()


def test_a_cluster_on_eks_gives_a_file_that_adopts_it_and_changes_nothing(world: World) -> None:
    made = import_live(world)
    assert made.problems == ()
    config = made.config
    assert config is not None
    assert config.eks is not None
    assert config.eks.existing is not None
    assert (config.eks.existing.name, config.adopt, config.provisioning) == ("ml", True, "continuous")
    [group] = config.instance_groups
    assert (group.name, group.role, group.labels, [taint.key for taint in group.taints]) == (
        "workers",
        None,
        {"pool": "a"},
        ["gpu"],
    )
    network = config.network.existing
    assert network is not None
    assert (network.vpc_id, network.node_subnet_ids) == (world.ids["vpc"], (world.ids["subnet"],))
    message = adoption(world, made)
    assert "would adopt it and add these tags and change nothing else" in message
    assert "changes by one UpdateCluster" not in message


def test_a_new_cluster_like_it_has_a_new_eks_cluster(world: World) -> None:
    made = import_live(world, Choices(keep=Keep.NOTHING))
    assert made.problems == ()
    assert made.config is not None
    assert made.config.creates_eks_cluster
    assert f"A new EKS cluster, instead of arn:aws:eks:{REGION}:{ACCOUNT}:cluster/ml." in made.text
    request = cluster_request(made.config, values=RequestValues.samples(made.config))
    assert request["InstanceGroups"][0]["KubernetesConfig"] == KUBERNETES
    assert json.dumps(request).count(world.ids["role"]) == 0


def test_the_command_writes_the_file(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = written(world, tmp_path, monkeypatch)
    assert (config.cluster_name, config.region, config.adopt, config.eks is not None) == ("theirs", REGION, True, True)
