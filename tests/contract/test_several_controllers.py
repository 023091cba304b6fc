"""What nodes read of a cluster with several controllers, a database of its own and homes on OpenZFS."""

from pathlib import Path

import pytest

from config.model import ClusterConfig, slurm_of
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from tests.contract.bundle import bundle_of
from tests.contract.test_provisioning_parameters import unpacked
from tests.corpus.case import BASES
from tests.synth.synthesized import Synthesized, synthesize
from validation.load import load_cluster

TEAM = BASES / "team.yaml"


@pytest.fixture(scope="module")
def config() -> ClusterConfig:
    return load_cluster(TEAM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def synthesized(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    clusters = tmp_path_factory.mktemp("clusters")
    (clusters / TEAM.name).write_text(TEAM.read_text(encoding="utf-8"), encoding="utf-8")
    return synthesize(folder, clusters)


def test_nodes_learn_their_roles_and_where_homes_are(
    config: ClusterConfig, synthesized: Synthesized, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "provisioning_parameters.json"
    file.write_text(unpacked(synthesized, config.name, folder))
    parameters = ProvisioningParameters.load(file)
    assert [parameters.role_of(group.name) for group in config.instance_groups] == ["controller", "login", "compute"]
    assert config.storage.openzfs is not None
    assert parameters.fsx_openzfs_dns_name == config.storage.openzfs.dns_name


def test_controllers_learn_their_database_and_their_shared_state(
    config: ClusterConfig, synthesized: Synthesized, folder: Path
) -> None:
    settings = NodeSettings.load(bundle_of(synthesized, config.name, folder) / "node_settings.json")
    assert (settings.accounting.database, settings.accounting.host) == ("external", slurm_of(config).accounting.host)
    assert settings.accounting.secret_arn == slurm_of(config).accounting.secret_arn
    assert settings.slurm.state_folder == "/fsx/slurm"
