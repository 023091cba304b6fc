"""Login nodes that HyperPod's agent lists in slurm.conf."""

from __future__ import annotations

import pytest

from hyperpod_node.resource_config import Instance
from hyperpod_node.slurm.configuration import render
from hyperpod_node.slurm.node_lines import without_login_nodes
from hyperpod_node.slurm.slurm_conf import COMPLETED, SlurmConf
from tests.unit.hyperpod_node.slurm.slurm_machine import CONTROLLER, SLURM_CONF, WORKER, slurm_context

LOGIN = Instance("login-1", "10.1.0.9", "i-9", "login", "ml.m5.large")
LOGIN_LINE = "NodeName=ip-10-1-0-9 NodeAddr=10.1.0.9 CPUs=2 State=UNKNOWN\n"
LISTED = SLURM_CONF.replace("PartitionName=dev", f"{LOGIN_LINE}PartitionName=dev")


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (LOGIN_LINE, []),
        ("NodeName=ip-10-1-0-[8-9] CPUs=2 # both\n", ["NodeName=ip-10-1-0-8 CPUs=2"]),
        ("PartitionName=dev Nodes=ALL State=UP\n", ["PartitionName=dev Nodes=ALL State=UP"]),
        ("PartitionName=dev Nodes=ip-10-1-0-[7-9] State=UP\n", ["PartitionName=dev Nodes=ip-10-1-0-7,ip-10-1-0-8 State=UP"]),
        ("partitionname=login nodes=ip-10-1-0-9 state=UP\n", ["partitionname=login state=UP"]),
        ("NodeName=DEFAULT CPUs=2\n", ["NodeName=DEFAULT CPUs=2"]),
        ("# NodeName=ip-10-1-0-9\n", []),
    ],
)
def test_login_nodes_are_left_out_and_the_agents_lines_come_back(line: str, left: list[str]) -> None:
    made = without_login_nodes(line, {"ip-10-1-0-9"})
    assert [each.replace(f" {COMPLETED}", "") for each in made.splitlines() if not each.startswith("#")] == left
    assert SlurmConf.parse(made).text == line


def test_the_rest_is_as_if_the_agent_had_not_listed_them() -> None:
    context = slurm_context(instances=(CONTROLLER, LOGIN, WORKER))
    made = render(LISTED, context.settings, context.cluster, login_group="login")
    without = render(SLURM_CONF, context.settings, context.cluster, login_group="login")
    assert made.slurm_conf.replace(f"#hyperpod_node# {LOGIN_LINE}", "") == without.slurm_conf
    assert (made.gres_conf, made.default_line) == (without.gres_conf, without.default_line)
    assert made.default_line is not None
    assert render(made.slurm_conf, context.settings, context.cluster, login_group="login") == made


def test_a_cluster_without_login_nodes_keeps_all_lines() -> None:
    context = slurm_context(instances=(CONTROLLER, LOGIN, WORKER))
    assert LOGIN_LINE in render(LISTED, context.settings, context.cluster).slurm_conf
