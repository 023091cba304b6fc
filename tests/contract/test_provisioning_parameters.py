"""The groups beside the scripts: written by constructs/hyperpod, read by lifecycle_assets on the nodes."""

from pathlib import Path

import pytest

from config.instance_group import Role
from config.model import ClusterConfig
from constructs.hyperpod.lifecycle.provisioning_parameters import SCRIPTS_FILE, file_name
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import Instance, ResourceConfig
from tests import cluster_files
from tests.contract.bundle import uploaded_by
from tests.contract.deployed import Deployed
from tests.synth.synthesized import CLUSTER, Synthesized
from validation.load import load_cluster


@pytest.fixture(params=cluster_files.SLURM, ids=lambda file: file.stem)
def config(request: pytest.FixtureRequest) -> ClusterConfig:
    return load_cluster(request.param)


@pytest.fixture
def parameters(config: ClusterConfig, shipped: Synthesized, shipped_folder: Path, tmp_path: Path) -> ProvisioningParameters:
    """What a node reads."""
    file = tmp_path / file_name(config)
    file.write_text(unpacked(shipped, config.name, shipped_folder, file.name))
    return ProvisioningParameters.load(file)


def unpacked(synthesized: Synthesized, cluster: str, folder: Path, name: str = SCRIPTS_FILE) -> str:
    """The file as the deployment's function leaves it in the bucket."""
    [content] = [text for key, text in uploaded_by(synthesized, cluster, folder).items() if key.endswith(f"/{name}")]
    return content.decode()


def test_each_group_gets_the_role_of_the_file(config: ClusterConfig, parameters: ProvisioningParameters) -> None:
    assert {group.name: parameters.role_of(group.name) for group in config.instance_groups} == {
        group.name: str(group.role) for group in config.instance_groups
    }


def test_each_compute_group_gets_the_partition_of_the_file(config: ClusterConfig, parameters: ProvisioningParameters) -> None:
    assert parameters.partitions == {
        group.name: group.partition for group in config.instance_groups if group.role is Role.COMPUTE
    }


def test_nodes_learn_the_file_systems_names(parameters: ProvisioningParameters) -> None:
    assert parameters.fsx_dns_name == "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
    assert parameters.fsx_mountname == "abcdefgh"


def test_nodes_learn_where_homes_are(config: ClusterConfig, parameters: ProvisioningParameters) -> None:
    openzfs = config.storage.openzfs
    assert parameters.fsx_openzfs_dns_name == (openzfs.dns_name if openzfs else None)


def test_a_node_of_each_group_that_is_requested_finds_its_role(
    config: ClusterConfig, shipped: Synthesized, parameters: ProvisioningParameters
) -> None:
    """HyperPod writes the names of the request's groups to the nodes."""
    request = Deployed(shipped, config.name).properties(CLUSTER, "Custom::HyperPodCluster")["Request"]
    names = [group["InstanceGroupName"] for group in request["InstanceGroups"]]
    instances = [Instance(f"{name}-1", f"10.1.0.{at}", f"i-{at}", name) for at, name in enumerate(names, start=4)]
    cluster = ResourceConfig(Path("resource_config.json"), config.name, tuple(instances))
    roles = [parameters.role_of(cluster.instance_with([instance.address]).group) for instance in instances]
    assert roles == [str(group.role) for group in config.instance_groups]
