"""node_settings.json: written by constructs/hyperpod, read by lifecycle_assets on the nodes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.model import ClusterConfig
from config.rds_authorities import rds_authorities
from config.storage import ExistingFileSystem, StorageConfig
from constructs.hyperpod.lifecycle.node_settings import node_settings, render
from hyperpod_node.node_settings import NodeSettings, Partition
from tests import cluster_files
from tests.contract.bundle import bundle_of
from tests.synth.synthesized import Synthesized, synthesize
from tests.synth.variants import CHANGES
from validation.load import load_cluster

TOPOLOGY = "SwitchName=s1 Nodes=ip-10-1-0-[4-7]\n"


def read(folder: Path) -> NodeSettings:
    """What a node reads; it may refuse what it does not know."""
    return NodeSettings.load(folder / "node_settings.json")


@pytest.fixture(params=cluster_files.SLURM, ids=lambda file: file.stem)
def config(request: pytest.FixtureRequest) -> ClusterConfig:
    return load_cluster(request.param)


@pytest.fixture
def settings(config: ClusterConfig, shipped: Synthesized, shipped_folder: Path) -> NodeSettings:
    return read(bundle_of(shipped, config.name, shipped_folder))


def as_the_file_says(value: Any) -> dict[str, Any]:
    """A node's record in the file's words."""
    return {key: list(item) if isinstance(item, tuple) else item for key, item in vars(value).items()}


def test_nodes_learn_each_user_and_group_of_the_file(config: ClusterConfig, settings: NodeSettings) -> None:
    file = config.model_dump(mode="json")
    assert [as_the_file_says(user) for user in settings.users] == file["users"]
    assert [as_the_file_says(group) for group in settings.groups] == file["user_groups"]


def test_nodes_learn_how_slurm_is_set_up(config: ClusterConfig, settings: NodeSettings) -> None:
    file = config.model_dump(mode="json")["slurm"]
    accounting = file.pop("accounting")
    accounting.pop("secret_key_arn")  # only the role needs it
    accounting.pop("schema_name")  # only the request needs it
    assert vars(settings.accounting) == {**accounting, "authorities": rds_authorities(accounting["host"])}
    file.pop("partitions")  # below
    file.pop("controller_role")  # only the request and the roles need it
    assert {key: value for key, value in vars(settings.slurm).items() if key != "partitions"} == file


def test_nodes_learn_the_message_of_the_day(config: ClusterConfig, settings: NodeSettings) -> None:
    assert settings.message_of_the_day == config.lifecycle.message_of_the_day


def test_nodes_learn_of_the_directory_without_its_key(tmp_path: Path) -> None:
    content = yaml.safe_load(cluster_files.REFERENCE.read_text()) | CHANGES["directory"]
    file = tmp_path / "staff.yaml"
    file.write_text(yaml.safe_dump(content))
    config = load_cluster(file)
    (tmp_path / "node_settings.json").write_bytes(render(node_settings(config)))
    assert config.directory is not None
    assert as_the_file_says(read(tmp_path).directory) == config.directory.model_dump(mode="json", exclude={"secret_key_arn"})


def test_nodes_learn_where_homes_are(config: ClusterConfig, settings: NodeSettings) -> None:
    assert str(settings.homes) == config.storage.homes


def test_nodes_learn_what_is_known_of_their_types(config: ClusterConfig, settings: NodeSettings) -> None:
    assert settings.instance_types.keys() == {group.instance_type for group in config.instance_groups}


def test_a_type_says_its_sockets_and_its_gpus(shipped: Synthesized, shipped_folder: Path) -> None:
    known = read(bundle_of(shipped, "resilient-p5", shipped_folder)).instance_types
    p5, c5 = known["ml.p5.48xlarge"], known["ml.c5.xlarge"]
    assert (p5.sockets, p5.cores_per_socket, p5.gpus, p5.gpu) == (2, 48, 8, "h100")
    assert (c5.sockets, c5.cores_per_socket, c5.gpus, c5.gpu) == (None, None, 0, None)


@pytest.mark.parametrize(("existing", "types"), [(None, set()), (False, set()), (True, {"ml.trn1.32xlarge"})])
def test_lustre_is_reached_over_efa_where_both_the_type_and_the_file_system_have_it(
    existing: bool | None, types: set[str], tmp_path: Path
) -> None:
    config = load_cluster(cluster_files.REFERENCE)
    if existing is not None:
        system = ExistingFileSystem(file_system_id="fs-0123456789abcdef0", mount_name="abcdefgh", efa=existing)
        config = config.model_copy(update={"storage": StorageConfig(existing=system)})
    (tmp_path / "node_settings.json").write_bytes(render(node_settings(config)))
    assert {name for name, known in read(tmp_path).instance_types.items() if known.efa} == types


def test_a_topology_comes_through_line_by_line(tmp_path: Path) -> None:
    content = yaml.safe_load(cluster_files.REFERENCE.read_text())
    content["slurm"] = {"topology": TOPOLOGY}
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "racks.yaml").write_text(yaml.safe_dump(content))
    synthesized = synthesize(tmp_path / "out", tmp_path / "clusters")
    assert read(bundle_of(synthesized, "racks", tmp_path / "out")).slurm.topology == TOPOLOGY


def test_settings_come_through_as_text(tmp_path: Path) -> None:
    content = yaml.safe_load(cluster_files.REFERENCE.read_text())
    content["slurm"] = {"settings": {"KillWait": "60", "MailProg": "/usr/bin/s-nail -s job"}}
    file = tmp_path / "tuned.yaml"
    file.write_text(yaml.safe_dump(content))
    (tmp_path / "node_settings.json").write_bytes(render(node_settings(load_cluster(file))))
    assert read(tmp_path).slurm.settings == content["slurm"]["settings"]


def test_partitions_come_through_with_the_keys_of_slurm(tmp_path: Path) -> None:
    content = yaml.safe_load(cluster_files.REFERENCE.read_text())
    [group] = [each["name"] for each in content["instance_groups"] if each["role"] == "compute"]
    for each in content["instance_groups"]:
        each.update({"partition": "gpu"} if each["role"] == "compute" else {})
    limits = {"max_time": "1-00:00:00", "priority_tier": 10, "priority_job_factor": 5, "state": "DRAIN"}
    content["slurm"] = {
        "partitions": [
            {"name": "all", "groups": [group], "default": True, **limits},
            {"name": "dev", "qos": "short", "allow_accounts": ["vision", "speech"]},
        ]
    }
    file = tmp_path / "limited.yaml"
    file.write_text(yaml.safe_dump(content))
    (tmp_path / "node_settings.json").write_bytes(render(node_settings(load_cluster(file))))
    keys = {"Default": "YES", "MaxTime": "1-00:00:00", "PriorityTier": "10", "PriorityJobFactor": "5", "State": "DRAIN"}
    assert read(tmp_path).slurm.partitions == (
        Partition("all", (group,), keys),
        Partition("dev", None, {"QOS": "short", "AllowAccounts": "vision,speech"}),
        Partition("gpu", (group,), {}),
    )


def test_nothing_follows_from_a_count(config: ClusterConfig, shipped: Synthesized, shipped_folder: Path) -> None:
    text = json.loads((bundle_of(shipped, config.name, shipped_folder) / "node_settings.json").read_text())
    more = config.model_copy(
        update={"instance_groups": tuple(group.model_copy(update={"instance_count": 97}) for group in config.instance_groups)}
    )
    assert node_settings(more) == node_settings(config) == text
