"""Nodes and daemons that go and come back while the cluster is in use."""

import pytest

from local_aws.hyperpod import service_behaviour
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.faults.user import as_alice, state
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

NOTE = "/fsx/home/alice/note"
FOLLOWED_S = 10.0  # from when the new controller is in service
OPTIONS = {"login-1": "/etc/default/sackd", "workers-1": "/etc/default/slurmd", "workers-2": "/etc/default/slurmd"}
DAEMONS = ("mariadb", "slurmdbd", "slurmctld", "hyperpod-slurm-conf")


def reboot(cluster: Running, name: str) -> None:
    node = cluster.machine(name)
    cluster.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[node["id"]])
    until(lambda: cluster.machine(name)["status"], lambda status: status == "Running", UP_S)


def replace(cluster: Running, name: str, address: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is known of a node before and after it is replaced, with its address `kept` or with a `new` one."""
    before = cluster.machine(name)
    service_behaviour.choose({"replaced_address": address})
    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    cluster.settle()
    after = cluster.machine(name)
    service_behaviour.reset()
    assert (after["address"] == before["address"]) is (address == "kept")
    return before, after


@pytest.mark.fault(66)
@pytest.mark.parametrize(("name", "daemon"), [("workers-1", "slurmd"), ("login-1", "sackd")])
def test_a_rebooted_node_has_its_mount_its_daemon_and_its_users_again(cluster: Running, name: str, daemon: str) -> None:
    reboot(cluster, name)

    if name == "workers-1":
        cluster.resumed(name)
    cluster.idle(2)
    active = ("systemctl", "show", "--property=ActiveState", "--value", daemon)
    until(lambda: cluster.run(name, *active), lambda found: found == "active", UP_S)
    assert cluster.run(name, "bash", "-c", "ls -d /tmp/sagemaker* 2>/dev/null || echo none") == "none"
    assert cluster.run(name, "findmnt", "--noheadings", "--output=TARGET", "--mountpoint", "/fsx") == "/fsx"
    host = cluster.machine("workers-1")["host"]
    assert as_alice(cluster, "login-1", f"srun --quiet --nodelist={host} id --user") == "10001"


@pytest.mark.fault(66)
@pytest.mark.fault(71)
def test_a_rebooted_controller_serves_again_and_knows_its_jobs(cluster: Running, job: str) -> None:
    reboot(cluster, "controller-1")

    until(lambda: state(cluster, job), lambda seen: seen == "RUNNING", UP_S)
    assert cluster.run("controller-1", "systemctl", "is-active", *DAEMONS).split() == ["active"] * len(DAEMONS)
    assert cluster.run("controller-1", "bash", "-c", "systemctl is-enabled slurmd || true") == "masked"


def test_a_killed_slurmctld_is_back_by_itself_and_its_jobs_run_on(cluster: Running, job: str) -> None:
    show = ("systemctl", "show", "--property=MainPID", "--value", "slurmctld")
    before = cluster.run("controller-1", *show)
    # slurmctld writes down what it knows of jobs some seconds later; a job that is younger is lost with it.
    cluster.run("controller-1", "bash", "-c", f"touch /root/mark; scontrol update JobId={job} Comment=kept")
    saved = ("find", "/var/spool/slurmctld/job_state", "-newer", "/root/mark")
    until(lambda: cluster.run("controller-1", *saved), bool)

    cluster.run("controller-1", "kill", "-KILL", before)

    until(lambda: cluster.run("controller-1", *show), lambda now: now not in ("0", before), UP_S)
    until(lambda: state(cluster, job), lambda seen: seen == "RUNNING", UP_S)


@pytest.mark.fault(67)
@pytest.mark.parametrize("address", ["kept", "new"])
def test_a_replaced_worker_joins_again_with_the_same_users_and_homes(cluster: Running, address: str) -> None:
    as_alice(cluster, "workers-2", f"echo kept >{NOTE}")
    as_alice(cluster, "login-1", f"ssh {cluster.machine('workers-2')['address']} true")

    _, after = replace(cluster, "workers-2", address)

    assert after["host"] in cluster.idle(2)
    assert cluster.run("workers-2", "id", "alice") == cluster.run("workers-1", "id", "alice")
    assert as_alice(cluster, "login-1", f"srun --quiet --nodelist={after['host']} stat --format='%U %u' {NOTE}") == "alice 10001"
    # ssh asks no question, though nobody has seen this host's key, or another one under its address.
    assert as_alice(cluster, "login-1", f"ssh {after['address']} cat {NOTE}") == "kept"


@pytest.mark.fault(67)
def test_login_nodes_and_workers_follow_a_controller_that_was_replaced_by_themselves(cluster: Running) -> None:
    replace(cluster, "controller-1", "new")
    told = f"--conf-server={cluster.machine('controller-1')['address']}"

    until(
        lambda: [cluster.run(node, "cat", file) for node, file in OPTIONS.items()],
        lambda options: all(told in text for text in options),
        FOLLOWED_S,
    )
    cluster.idle(2)
    # Quiet: a new controller lists nodes as idle before each has answered, and srun says that it waits for them.
    assert as_alice(cluster, "login-1", "srun --quiet --nodes=2 id --user") == "10001\n10001"
