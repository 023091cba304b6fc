"""A cluster's life under the worst agent: nodes hear of their lines minutes late, and of nothing that their scripts mounted."""

import re

import pytest

from local_aws.nodes.agent.behaviour import Behaviour
from tests.nodes.agent.conftest import AddGroup, Create
from tests.nodes.cluster.running import UP_S, Running
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

ON_EACH = "mountpoint --quiet /fsx && ls -d /fsx/home/alice && hostname"
NO_CLIENT = "mv /usr/sbin/mount.lustre /root && printf '#!/bin/sh\\nexit 5\\n' | install /dev/stdin /usr/sbin/mount.lustre"
# As long as the first change of the cluster takes, and on a part of its worker.
SUBMIT = ("sbatch", "--parsable", "--chdir=/tmp", "--output=/dev/null", "--gres=gpu:1", "--no-requeue", "--wrap=sleep 12")


def is_whole(cluster: Running, *, plugin: str = "topology/default") -> None:
    """All workers are idle in `dev` and in their partitions, no other node is in them, and a job on each sees /fsx, mounted."""
    assert cluster.settle()["ClusterStatus"] == "InService"
    workers = [one for one in cluster.runner.describe() if one["role"] == "compute"]
    hosts = {one["host"] for one in workers}
    cluster.idle(len(hosts))
    # The agent turns one on whenever it rewrites slurm.conf, and Slurm refuses jobs until it is off again, seconds later.
    topology = ("sh", "-c", "scontrol show config | grep ^TopologyPlugin")
    until(lambda: cluster.run("controller-1", *topology).split()[-1], lambda found: found == plugin, UP_S)
    partitions = {(one["host"], name) for one in workers for name in ("dev", one["group"])}
    until(lambda: in_partitions(cluster), lambda found: found == partitions, UP_S)
    seen = cluster.run("controller-1", "srun", "--immediate=30", f"--nodes={len(hosts)}", "--chdir=/", "sh", "-c", ON_EACH)
    assert sorted(seen.split()) == sorted([*hosts, *["/fsx/home/alice"] * len(hosts)])


def registered(cluster: Running, name: str) -> tuple[str, str]:
    """The state of a node in Slurm, and when its slurmd started, as of its last registration."""
    line = cluster.run("controller-1", "scontrol", "--oneliner", "show", "node", cluster.machine(name)["host"])
    state, started = re.findall(r"\b(?:State|SlurmdStartTime)=(\S+)", line)
    return state, started


def in_partitions(cluster: Running) -> set[tuple[str, str]]:
    """The nodes of Slurm's partitions, however they are, as (host, partition)."""
    lines = cluster.run("controller-1", "sinfo", "--noheader", "--Node", "--format=%N %R").splitlines()
    return {(host, partition) for host, partition in map(str.split, lines)}


def test_a_cluster_is_whole_after_each_change(create: Create, add_group: AddGroup) -> None:
    cluster = create(Behaviour(), {"controller": 1, "login": 1, "workers": 1, "others": 0})
    is_whole(cluster)
    job = cluster.run("login-1", "runuser", "-u", "alice", "--", *SUBMIT)
    for group, count in (("workers", 2), ("workers", 6), ("others", 1), ("others", 0)):
        cluster.resize(group, count)
        is_whole(cluster)
    # It ran while the agent emptied gres.conf, and while it listed the login node in the job's partition.
    state = ("sacct", "--allocations", "--noheader", "--parsable2", "--format=state,nnodes", f"--jobs={job}")
    until(lambda: cluster.run("controller-1", *state), lambda found: found == "COMPLETED|1", UP_S)

    add_group(cluster, "new")  # neither the controller's agent nor its scripts knew the group
    is_whole(cluster)

    before = cluster.machine("workers-2")
    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    cluster.settle()
    assert before["host"] in cluster.idle(7)
    is_whole(cluster)

    cluster.world.sagemaker.update_cluster_software(ClusterName="ml")
    is_whole(cluster)


def test_a_worker_without_its_mount_takes_no_jobs_until_it_has_it(create: Create) -> None:
    """Its scripts had a mount namespace that sees none of the node's mounts; then its first try at boot fails."""
    cluster = create(Behaviour(script_mounts="private", automatic_topology="none"), {"controller": 1, "workers": 1})
    is_whole(cluster)
    cluster.run("workers-1", "sh", "-c", NO_CLIENT)
    cluster.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[cluster.machine("workers-1")["id"]])
    until(lambda: cluster.machine("workers-1")["status"], lambda status: status == "Running", UP_S)

    restarts = ("systemctl", "show", "--property=NRestarts", "--value", "slurmd")
    until(lambda: cluster.run("workers-1", *restarts), lambda count: int(count) > 1, UP_S)
    assert cluster.run("workers-1", "sh", "-c", "pidof slurmd || echo none") == "none"

    # Not earlier: a reconfiguration, as after a change of the agent's, starts slurmd anew too.
    _, before = registered(cluster, "workers-1")
    cluster.run("workers-1", "mv", "/root/mount.lustre", "/usr/sbin/mount.lustre")
    # slurmctld does not notice each reboot, for example soon after it was reconfigured: then nothing must resume the node.
    until(lambda: registered(cluster, "workers-1"), lambda now: now[0] == "IDLE+CLOUD" and now[1] not in ("None", before), UP_S)
    is_whole(cluster)
