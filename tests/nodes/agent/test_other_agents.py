"""Agents that behave less badly, or in other ways: clusters come up, grow and get new groups under each of them."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest

from local_aws.nodes.agent.behaviour import Behaviour
from tests.nodes.agent.conftest import AddGroup, Create
from tests.nodes.agent.test_unkind_agent import is_whole
from tests.nodes.cluster.running import UP_S, Running
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

# What its worst does is in test_unkind_agent.py. Each agent is a boot of a cluster, so what does not interact is in one.
AGENTS = {
    "the kindest, but for devices of GPUs that its node lines lack, and an empty topology": Behaviour(
        script_mounts="host",
        node_lines="before_scripts",
        node_lines_after_s=0,
        empty_instances="list",
        first_slurm_conf="complete",
        placeholder_s=0,
        host_name="known",
        automatic_topology="empty_yaml",
        gres="none",
        real_memory="written",
        node_state="UNKNOWN",
        partitions="shared",
        cluster_type="absent",
        agent_address="same",
        worker_copies="current",
        scripts_folder="random",
        caller="instance",
        gres_conf="devices",
        login_nodes="absent",
        slurm_folder="folder",
        image_prologs="absent",
        metadata_path="direct",
        apt_lock_s=0,
    ),
    "a topology that it describes, devices, a slurm.conf on workers, and groups without instances": Behaviour(
        automatic_topology="described",
        gres_conf="devices",
        stub_slurm_conf="present",
        empty_instances="absent",
        apt_lock_s=3,
    ),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_cluster_is_whole_after_each_change(create: Create, add_group: AddGroup, agent: str) -> None:
    behaviour = AGENTS[agent]
    cluster = create(behaviour, {"controller": 1, "login": 1, "workers": 1, "others": 0})
    cluster.resize("workers", 2)
    add_group(cluster, "new")
    is_whole(cluster, plugin="topology/tree" if behaviour.automatic_topology == "described" else "topology/default")
    until(lambda: gpus(cluster), lambda found: found == ["gpu:1"] * 2, UP_S)  # the agent's file names devices, not models
    devices = ("srun", "--immediate=20", "--partition=workers", "--nodes=2", "--gres=gpu:1", "printenv", "CUDA_VISIBLE_DEVICES")
    assert cluster.run("controller-1", *devices).splitlines() == ["0", "0"]


def test_each_behaviour_is_in_a_test() -> None:
    hints = get_type_hints(Behaviour)
    literals = [field.name for field in fields(Behaviour) if get_origin(hints[field.name]) is not None]
    known = {(name, value) for name in literals for value in get_args(hints[name])}
    tested = {(name, getattr(one, name)) for one in (Behaviour(), *AGENTS.values()) for name in literals}
    others = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py") if file != Path(__file__))
    assert tested | {(name, value) for name, value in known if re.search(rf'\bBehaviour\(.*\b{name}="{value}"', others)} == known


def gpus(cluster: Running) -> list[str]:
    """The GPUs of the workers that have some, as Slurm knows them."""
    return cluster.run("controller-1", "sinfo", "--noheader", "--Node", "--partition=workers", "--format=%G").split()
