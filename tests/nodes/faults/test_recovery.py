"""Nodes and daemons that go and come back while the cluster is in use."""

import pytest

from tests.local.hyperpod.world import until
from tests.nodes.cluster.running import UP_S, Running

pytestmark = pytest.mark.local

MARK = "/fsx/home/alice/before"


def as_alice(cluster: Running, node: str, command: str) -> str:
    """What a command of a user prints."""
    return cluster.run(node, "runuser", "--login", "alice", "--command", command)


def states(cluster: Running) -> set[str]:
    return {one["status"] for one in cluster.runner.describe()}


@pytest.mark.fault(66)
def test_a_rebooted_worker_has_its_mount_its_slurmd_and_its_users_again(cluster: Running) -> None:
    node = cluster.machine("workers-1")
    cluster.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[node["id"]])
    until(lambda: states(cluster), lambda seen: seen == {"Running"}, UP_S)

    cluster.idle(2)
    assert cluster.run("workers-1", "bash", "-c", "ls -d /tmp/sagemaker* 2>/dev/null || echo none") == "none"
    assert cluster.run("workers-1", "findmnt", "--noheadings", "--output=TARGET", "--mountpoint", "/fsx") == "/fsx"
    assert as_alice(cluster, "login-1", f"srun --nodelist={node['host']} id --user") == "10001"


@pytest.mark.fault(66)
@pytest.mark.fault(71)
def test_a_rebooted_controller_serves_again_and_knows_its_jobs(cluster: Running) -> None:
    job = as_alice(cluster, "login-1", "sbatch --parsable --output=/dev/null --wrap='sleep 600'")
    cluster.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[cluster.machine("controller-1")["id"]])
    until(lambda: states(cluster), lambda seen: seen == {"Running"}, UP_S)

    look = f"squeue --noheader --jobs={job} --format=%T 2>&1 || true"
    until(lambda: as_alice(cluster, "login-1", look), lambda state: state == "RUNNING", UP_S)
    assert cluster.run("controller-1", "systemctl", "is-active", "mariadb", "slurmdbd", "slurmctld", "hyperpod-slurm-conf")
    assert cluster.run("controller-1", "bash", "-c", "systemctl is-enabled slurmd || true") == "masked"
    as_alice(cluster, "login-1", f"scancel {job}")
    cluster.idle(2)


@pytest.mark.fault(67)
def test_a_replaced_worker_joins_under_its_new_address_with_the_same_users_and_homes(cluster: Running) -> None:
    before = cluster.machine("workers-2")
    as_alice(cluster, "workers-2", f"echo from {before['host']} >{MARK}")
    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    cluster.settle()

    after = cluster.machine("workers-2")
    assert after["address"] != before["address"]
    assert before["host"] not in cluster.idle(2)
    assert cluster.run("workers-2", "id", "alice") == cluster.run("workers-1", "id", "alice")
    assert as_alice(cluster, "login-1", f"srun --nodelist={after['host']} stat --format='%U %u' {MARK}") == "alice 10001"
    # ssh goes on without a question, though nobody has seen this host's key.
    assert as_alice(cluster, "login-1", f"ssh {after['address']} cat {MARK}") == f"from {before['host']}"
    as_alice(cluster, "login-1", f"rm {MARK}")


@pytest.mark.fault(67)
def test_workers_and_login_nodes_follow_a_controller_that_was_replaced(cluster: Running) -> None:
    before = cluster.machine("controller-1")
    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    cluster.settle()
    assert cluster.machine("controller-1")["address"] != before["address"]
    cluster.idle(2)


def test_a_killed_slurmctld_is_back_by_itself_and_its_jobs_run_on(cluster: Running) -> None:
    job = as_alice(cluster, "login-1", "sbatch --parsable --output=/dev/null --wrap='sleep 600'")
    until(lambda: as_alice(cluster, "login-1", f"squeue --noheader --jobs={job} --format=%T"), lambda state: state == "RUNNING")
    show = ("systemctl", "show", "--property=MainPID", "--value", "slurmctld")
    before = cluster.run("controller-1", *show)

    cluster.run("controller-1", "kill", "-KILL", before)

    until(lambda: cluster.run("controller-1", *show), lambda now: now not in ("0", before), UP_S)
    until(lambda: cluster.run("controller-1", "bash", "-c", "scontrol ping || true"), lambda said: " is UP" in said, UP_S)
    assert as_alice(cluster, "login-1", f"squeue --noheader --jobs={job} --format=%T") == "RUNNING"
    as_alice(cluster, "login-1", f"scancel {job}")
    cluster.idle(2)
