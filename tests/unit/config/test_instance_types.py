"""The checked-in table matches the tool's output, and is read only as far as needed."""

import json
from typing import Any

import pytest

from cluster_request.effective_request import EffectiveRequest
from cluster_request.service_model import shape
from config.instance_types import TABLE, instance_type
from tools.instance_type_table import SOCKETS, rendered, table


def test_the_table_is_fresh() -> None:
    date = json.loads(TABLE.read_text())["date"]
    assert TABLE.read_text() == rendered(table(date)) + "\n", (
        "run `python -m tools.instance_type_table > config/data/instance_types.json`"
    )


def test_every_type_that_hyperpod_supports_is_in_the_table() -> None:
    assert sorted(json.loads(TABLE.read_text())["types"]) == sorted(shape("ClusterInstanceType")["enum"])


def test_properties_unknown_to_the_source_are_absent() -> None:
    unknown = {name for name in shape("ClusterInstanceType")["enum"] if instance_type(name) is None}
    assert unknown == {"ml.p6e-gb200.36xlarge"}


def test_one_type_is_read_as_in_the_table() -> None:
    for name, facts in json.loads(TABLE.read_text())["types"].items():
        found = instance_type(name)
        assert (vars(found) if found else None) == facts


@pytest.mark.parametrize(
    ("name", "sockets", "cores"), [("ml.p5.48xlarge", 2, 48), ("ml.p4d.24xlarge", 2, 24), ("ml.p4de.24xlarge", 2, 24)]
)
def test_sockets_are_those_that_were_published(name: str, sockets: int, cores: int) -> None:
    found = instance_type(name)
    assert found is not None
    assert (found.sockets, found.cores_per_socket) == (sockets, cores)


def test_sockets_of_all_other_types_are_unknown() -> None:
    known = {name for name in shape("ClusterInstanceType")["enum"] if (found := instance_type(name)) and found.sockets}
    assert known == SOCKETS.keys()


@pytest.mark.parametrize(
    ("name", "accelerators", "network", "disks"),
    [
        ("ml.p5.48xlarge", (8, "h100", 80 * 1024, 0, None, None), (32, 32, 64, 50), (8, 3800)),
        ("ml.g5.48xlarge", (8, "a10g", 22888, 0, None, None), (1, 1, 7, 50), (2, 3800)),
        ("ml.trn1.32xlarge", (0, None, None, 16, "trainium", 32 * 1024), (8, 8, 40, 50), (4, 1900)),
        ("ml.trn2.48xlarge", (0, None, None, 16, "trainium2", None), (16, 16, 32, 50), (4, 1900)),  # no memory: see DOUBTED
        ("ml.p6-b300.48xlarge", (8, "b300", 275040, 0, None, None), (16, 17, 68, 50), (8, 3800)),
        ("ml.c5.xlarge", (0, None, None, 0, None, None), (0, 1, 4, 15), (0, None)),
    ],
)
def test_a_type_says_its_accelerators_its_network_and_its_disks(
    name: str, accelerators: object, network: object, disks: object
) -> None:
    found = instance_type(name)
    assert found is not None
    assert accelerators == (
        found.gpus,
        found.gpu,
        found.gpu_memory_mib,
        found.neuron_devices,
        found.neuron_device,
        found.neuron_device_memory_mib,
    )
    assert network == (found.efa_interfaces, found.network_cards, found.network_interfaces, found.addresses_per_interface)
    assert disks == (found.nvme_disks, found.nvme_disk_gb)


def test_a_models_name_can_stand_in_slurm_conf() -> None:
    models = {found.gpu for name in shape("ClusterInstanceType")["enum"] if (found := instance_type(name)) and found.gpu}
    assert len(models) > 5
    assert all(model.replace("-", "").isalnum() and model == model.lower() for model in models)


def test_a_clusters_types_are_those_of_its_groups_and_of_their_overrides(draft: Any) -> None:
    mixed = {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}
    draft.set("instance_groups", 2, "overrides", {"InstanceType": None, "InstanceRequirements": mixed})
    assert EffectiveRequest(draft.config()).type_names() == ("ml.c5.xlarge", "ml.m5.xlarge", "ml.p5.48xlarge", "ml.p5e.48xlarge")
