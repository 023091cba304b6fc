"""An account whose clusters have nodes that run, with a tiny bundle of lifecycle scripts."""

import json
from collections.abc import Iterator

import pytest

from local_aws import faults, hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.nodes.cluster.running import Running
from tests.simulator.hyperpod.world import World

__all__ = ["aws", "nodes"]

ON_CREATE = """\
#!/bin/bash
# The smallest bundle that makes a Slurm cluster. It takes for granted what AWS's public scripts do: that munge runs, that a
# socket tells the node's address, that systemd's units are where HyperPod's image has them. As they do, it waits until slurm.conf
# names the controller.
set -euo pipefail
echo "on_create of $(hostname)"
echo run >>/var/lib/runs
. ./roles.sh
group=$(group_of "$(own_address)")
if [ "$group" = controller ]; then
    until_slurm_conf_is_ours
    echo "# a script's own line" >>/opt/slurm/etc/slurm.conf
    systemctl enable --now slurmctld
elif [ "$group" = workers ]; then
    unit=/etc/systemd/system/slurmd.service
    SLURMD_OPTIONS="--conf-server=$(first_of controller)" envsubst '$SLURMD_OPTIONS' <$unit >slurmd.service
    mv slurmd.service $unit
    systemctl daemon-reload
    until timeout 1 bash -c "</dev/tcp/$(first_of controller)/6817" 2>/dev/null; do sleep 0.2; done
    systemctl enable --now slurmd
fi
"""
ROLES = """\
own_address() {
    python3 -c 'import socket as s; u = s.socket(type=s.SOCK_DGRAM); u.connect(("10.254.254.254", 1)); print(u.getsockname()[0])'
}
until_slurm_conf_is_ours() {
    until grep --quiet "^SlurmctldHost=.*($(own_address))" /opt/slurm/etc/slurm.conf; do sleep 0.2; done
}
config() { jq -r "$@" "$SAGEMAKER_RESOURCE_CONFIG_PATH"; }
group_of() { config --arg a "$1" '.InstanceGroups[] | select(any(.Instances[]; .CustomerIpAddress == $a)).Name'; }
first_of() { config --arg g "$1" 'first(.InstanceGroups[] | select(.Name == $g).Instances[].CustomerIpAddress)'; }
"""
PARAMETERS = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller",
    "login_group": "login",
    "worker_groups": [{"instance_group_name": "workers", "partition_name": "all-of-them"}],
}

# These scripts leave slurm.conf as the agent writes it, also its topology and login nodes.
KIND = Behaviour(automatic_topology="none", login_nodes="absent")


@pytest.fixture(scope="module")
def world(aws: EmbeddedAws, nodes: SimulatedNodes) -> World:
    """The account, with what every cluster needs in it."""
    nodes.behaviour = KIND
    world = World(aws.endpoint)
    world.make()
    world.put_script("on_create.sh", ON_CREATE)
    world.put_script("roles.sh", ROLES)
    world.put_script("provisioning_parameters.json", json.dumps(PARAMETERS))
    world.allow_all_but()
    return world


@pytest.fixture
def account(world: World) -> Iterator[World]:
    """The account without clusters, after the test, too."""
    yield world
    hyperpod.reset()
    faults.reset()
    world.put_script("on_create.sh", ON_CREATE)
    iam = world.client("iam")
    for name in iam.list_role_policies(RoleName="nodes")["PolicyNames"]:
        iam.delete_role_policy(RoleName="nodes", PolicyName=name)
    world.allow_all_but()


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes) -> Running:
    """A cluster of a controller, a login node and two workers, in service."""
    running = Running(world, nodes)
    running.create()
    return running
