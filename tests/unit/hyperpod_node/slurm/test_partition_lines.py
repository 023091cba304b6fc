"""The partitions of slurm.conf: the agent's, completed, and the cluster file's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyperpod_node.node_settings import Accounting, Partition
from hyperpod_node.resource_config import Instance
from hyperpod_node.slurm.configuration import render
from hyperpod_node.slurm.partition_lines import complete
from hyperpod_node.slurm.slurm_conf import BEGIN, COMPLETED, SlurmConf
from hyperpod_node.slurm.topology import turn_off
from tests.unit.hyperpod_node.slurm.slurm_machine import CONTROLLER, PLAIN, SLURM_CONF, slurm_context

AGENTS = """\
PartitionName=dev Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=ip-10-1-0-[6-7] MaxTime=INFINITE State=UP
"""
HOSTS = {"a": ["ip-10-1-0-6", "ip-10-1-0-7"], "b": ["ip-10-1-0-8"]}


def partition(name: str, groups: tuple[str, ...] | None = None, **options: str) -> Partition:
    return Partition(name, groups, options)


def completed(*partitions: Partition, text: str = AGENTS) -> tuple[list[str], list[str]]:
    """Return the agent's lines as Slurm reads them, and the others; the agent's own come back."""
    made, more = complete(text, partitions, HOSTS)
    assert SlurmConf.parse(made).text == text
    return [line.partition("#")[0].rstrip() for line in made.splitlines() if not line.startswith("#")], more


def test_options_replace_those_of_the_agents_line() -> None:
    lines, more = completed(partition("gpu", ("a",), MaxTime="60", PriorityTier="10"))
    assert lines == [
        AGENTS.splitlines()[0],
        "PartitionName=gpu MaxTime=60 State=UP Nodes=ip-10-1-0-[6-7] PriorityTier=10",
    ]
    assert more == []


def test_a_partition_of_the_file_gets_the_nodes_of_its_groups() -> None:
    _, more = completed(partition("all", ("a", "b"), MaxTime="1-0"))
    assert more == ["PartitionName=all Nodes=ip-10-1-0-6,ip-10-1-0-7,ip-10-1-0-8 MaxTime=1-0"]


def test_a_partition_whose_name_begins_with_default_is_the_agents_and_not_added_again() -> None:
    text = "PartitionName=DEFAULT MaxTime=60\nPartitionName=default-gpu Nodes=ip-10-1-0-6 State=UP\n"
    assert completed(partition("default-gpu", ("a",)), text=text)[1] == []


def test_another_default_takes_the_agents_place() -> None:
    lines, _ = completed(partition("gpu", ("a",), Default="YES"))
    assert [line for line in lines if "Default=YES" in line] == [lines[1]]


def test_the_agents_partition_of_all_nodes_keeps_them() -> None:
    lines, more = completed(partition("dev", State="INACTIVE"))
    assert lines[0] == "PartitionName=dev Default=YES MaxTime=INFINITE State=INACTIVE Nodes=ALL"
    assert more == []
    assert completed(partition("dev", MaxTime="1"), text="")[1] == ["PartitionName=dev Nodes=ALL MaxTime=1"]


def test_a_group_that_the_agent_does_not_know_is_added_to_its_partition() -> None:
    lines, more = completed(partition("gpu", ("a", "b")), partition("new", ("b",)), partition("empty", ("c",)))
    assert lines[1].endswith(" Nodes=ip-10-1-0-6,ip-10-1-0-7,ip-10-1-0-8")
    assert more == ["PartitionName=new Nodes=ip-10-1-0-8"]


def test_lines_that_lack_nothing_stay() -> None:
    assert complete(AGENTS, [partition("gpu", ("a",)), partition("empty", ("c",))], HOSTS) == (AGENTS, [])


def test_a_partition_of_an_empty_group_exists_without_nodes() -> None:
    assert completed(partition("later", ("c",), MaxTime="1"))[1] == ["PartitionName=later MaxTime=1"]


def test_comments_defaults_and_the_spelling_of_keys_do_not_matter() -> None:
    text = "PartitionName=DEFAULT State=UP\npartitionname=gpu nodes=ALL maxtime=5 # slow\n#PartitionName=gpu\n"
    lines, _ = completed(partition("gpu", ("b",), MaxTime="6"), text=text)
    assert lines == ["PartitionName=DEFAULT State=UP", "PartitionName=gpu MaxTime=6 Nodes=ip-10-1-0-8"]


def test_a_topology_that_is_turned_off_is_not_copied() -> None:
    text = "PartitionName=gpu Nodes=ALL Topology=tree\n"
    made, _ = complete(turn_off(text), [partition("gpu", ("b",), MaxTime="6")], HOSTS)
    assert [line for line in made.splitlines() if not line.startswith("#")] == [
        f"PartitionName=gpu Nodes=ip-10-1-0-8 MaxTime=6 {COMPLETED}"
    ]
    assert SlurmConf.parse(made).text == text


@pytest.mark.parametrize("new", [False, True])
def test_only_nodes_of_slurm_conf_are_named(*, new: bool) -> None:
    """HyperPod lists a node minutes before its agent adds it to slurm.conf."""
    worker = Instance("compute-nodes-1", "10.1.0.7" if new else "10.1.0.6", "i-6", "compute-nodes", "ml.c5.xlarge")
    slurm = replace(PLAIN, partitions=(partition("all", ("compute-nodes",), MaxTime="60"),))
    context = slurm_context(
        instances=(CONTROLLER, worker), accounting=Accounting("none", None, 3306, None), types={}, slurm=slurm
    )
    made = render(SLURM_CONF, context.settings, context.cluster).slurm_conf
    nodes = "" if new else " Nodes=ip-10-1-0-6"
    assert f"{BEGIN}\nPartitionName=all{nodes} MaxTime=60\n" in made
    assert render(made, context.settings, context.cluster).slurm_conf == made
