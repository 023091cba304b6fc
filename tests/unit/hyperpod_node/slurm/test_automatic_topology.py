"""The topology that HyperPod's agent turns on by itself, described or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyperpod_node.slurm.configuration import HEADER
from hyperpod_node.slurm.slurm_conf import COMMENTED_OUT, SlurmConf
from hyperpod_node.slurm.topology import turn_off
from hyperpod_node.steps import slurm_controller
from tests.unit.hyperpod_node.slurm.conftest import CONF
from tests.unit.hyperpod_node.slurm.slurm_machine import PLAIN, SLURM_CONF, SlurmMachine, slurm_context

ETC = "opt/slurm/etc"
TREE = SLURM_CONF + "TopologyPlugin=topology/tree\n"
TOKEN = SLURM_CONF.replace("Default=YES State=UP", "Default=YES Topology=tree State=UP")
SWITCHES = "SwitchName=a Nodes=ip-10-1-0-6\n"
WITH_TOPOLOGY = replace(PLAIN, topology=SWITCHES)


def active(machine: SlurmMachine) -> str:
    """slurm.conf as Slurm reads it: without comments."""
    return "\n".join(line.partition("#")[0] for line in (machine.root / CONF).read_text().splitlines())


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (TREE, {}),
        (TREE.replace("tree", "block"), {}),
        (TREE, {"topology.conf": ""}),
        (TREE, {"topology.conf": "# filled in later\n"}),
        (TOKEN, {"topology.conf": "", "topology.yaml": "[]\n"}),
        (TOKEN, {"topology.conf": "", "topology.yaml": "--- []\n"}),
        (TOKEN, {"topology.conf": "", "topology.yaml": "---\n# none\n[]\n"}),
    ],
)
def test_a_topology_without_a_description_is_turned_off(machine: SlurmMachine, text: str, files: dict[str, str]) -> None:
    machine.write(CONF, text)
    for name, content in files.items():
        machine.write(f"{ETC}/{name}", content)

    slurm_controller.apply_configuration(slurm_context(), machine.system)

    assert "Topology" not in active(machine)
    assert "PartitionName=dev Nodes=ALL Default=YES State=UP" in active(machine)
    # The agent writes the plugin's line again with the next node, and slurmctld waits a minute for a missing file.
    left = {"topology.conf": HEADER} if "TopologyPlugin" in text else {}
    assert {path.name: path.read_text() for path in (machine.root / ETC).glob("topology.*")} == left


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (TREE, {"topology.conf": SWITCHES}),
        (TREE.replace("tree", "block"), {"topology.conf": "# of the agent\nBlockName = b1 Nodes = ip-10-1-0-6\n"}),
        (TOKEN, {"topology.conf": "", "topology.yaml": "---\n- topology: tree\n  cluster_default: true\n"}),
        (SLURM_CONF, {"topology.conf": "", "topology.yaml": "- topology: flat\n  flat: true\n"}),
    ],
)
@pytest.mark.parametrize("slurm", [PLAIN, WITH_TOPOLOGY])
def test_a_described_topology_stays_the_agents(
    machine: SlurmMachine, text: str, files: dict[str, str], slurm: object, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write(CONF, text)
    for name, content in files.items():
        machine.write(f"{ETC}/{name}", content)

    slurm_controller.apply_configuration(slurm_context(slurm=slurm), machine.system)  # type: ignore[arg-type]  # two values of Slurm

    lines = [line for line in text.splitlines() if "Topology" in line]
    assert [line for line in active(machine).splitlines() if "Topology" in line] == lines
    assert {name: (machine.root / ETC / name).read_text() for name in files} == files
    assert ("HyperPod's agent maintains the topology" in capsys.readouterr().out) is (slurm is WITH_TOPOLOGY)


def test_a_plugin_that_reads_no_file_stays(machine: SlurmMachine) -> None:
    machine.write(CONF, SLURM_CONF + "TopologyPlugin=topology/3d_torus\n")
    slurm_controller.apply_configuration(slurm_context(), machine.system)
    assert "TopologyPlugin=topology/3d_torus" in active(machine)


def test_the_cluster_files_topology_takes_the_place_of_an_empty_one(machine: SlurmMachine) -> None:
    machine.write(CONF, TOKEN + "TopologyPlugin=topology/block\n")
    machine.write(f"{ETC}/topology.conf", "")
    machine.write(f"{ETC}/topology.yaml", "[]\n")

    slurm_controller.apply_configuration(slurm_context(slurm=WITH_TOPOLOGY), machine.system)

    assert [line for line in active(machine).splitlines() if "Topology" in line] == ["TopologyPlugin=topology/tree"]
    assert (machine.root / ETC / "topology.conf").read_text().endswith(SWITCHES)
    assert not (machine.root / ETC / "topology.yaml").exists()


@pytest.mark.parametrize("partition", ["Nodes=ALL Topology=tree", "Nodes=ALL Topology=tree # note", "Nodes=ALL State=UP"])
def test_what_is_turned_off_comes_back_when_the_agent_describes_it(partition: str) -> None:
    text = f"TopologyPlugin=topology/tree\nPartitionName=dev {partition}\n"
    off = turn_off(text)
    assert off.startswith(f"{COMMENTED_OUT}TopologyPlugin")
    assert SlurmConf.parse(off).text == text
    assert turn_off(SlurmConf.parse(off).text) == off
