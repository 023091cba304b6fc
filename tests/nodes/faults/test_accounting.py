"""Slurm's accounting on the controller: its database, and the number of the cluster that two keep."""

import pytest

from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.faults.conftest import Again
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

NAME_FILE = "/var/spool/slurmctld/clustername"
NUMBER = "mariadb --skip-column-names --execute \"SELECT id FROM slurm_acct_db.cluster_table WHERE name = 'ml'\""
TOO_LONG = "sbatch --partition=short --time=10 --wrap=true 2>&1; scancel --user root"
JOBS = "mariadb --skip-column-names --execute 'SELECT COUNT(*) FROM slurm_acct_db.ml_job_table'"


@pytest.mark.fault(75)
def test_slurmctld_began_with_the_number_that_the_database_gave_the_cluster(cluster: Running) -> None:
    number = cluster.run("controller-1", "bash", "-c", NUMBER).strip()

    assert number in cluster.run("controller-1", "cat", NAME_FILE)
    assert "MISMATCH" not in cluster.run("controller-1", "cat", "/var/log/slurm/slurmctld.log")


def test_a_partitions_qos_exists_before_slurmctld_starts_and_limits_its_jobs(cluster: Running) -> None:
    assert "QoS=short" in cluster.run("controller-1", "scontrol", "show", "partition", "short")
    set_limit = "sacctmgr --immediate modify qos short set MaxWall={} Flags=DenyOnLimit"
    cluster.run("controller-1", "bash", "-c", set_limit.format(5))
    until(lambda: cluster.run("controller-1", "bash", "-c", TOO_LONG), lambda said: "QOSMaxWall" in said, UP_S)
    cluster.run("controller-1", "bash", "-c", set_limit.format(-1))


@pytest.mark.fault(69)
def test_slurmdbd_that_starts_before_its_database_answers_once_that_is_there(cluster: Running) -> None:
    log = "/var/log/slurm/slurmdbd.log"
    cluster.run("controller-1", "bash", "-c", f"systemctl stop slurmdbd mariadb; rm {log}; systemctl start --no-block slurmdbd")
    until(lambda: cluster.run("controller-1", "bash", "-c", f"cat {log} || true"), lambda said: "Can't connect" in said, UP_S)

    cluster.run("controller-1", "systemctl", "start", "mariadb")

    ask = "sacctmgr --noheader --parsable2 show cluster format=cluster 2>&1 || true"
    until(lambda: cluster.run("controller-1", "bash", "-c", ask), lambda said: said == "ml", UP_S)


@pytest.mark.fault(69)
def test_a_database_with_another_clusters_number_is_reported_with_a_fix_and_nothing_is_dropped(
    cluster: Running, again: Again
) -> None:
    cluster.run("controller-1", "srun", "--immediate=20", "true")
    until(lambda: cluster.run("controller-1", "bash", "-c", JOBS), lambda count: int(count) > 0)
    cluster.run("controller-1", "bash", "-c", f"systemctl stop slurmctld; sed -i 's/[0-9][0-9]*$/1/' {NAME_FILE}")
    before = cluster.run("controller-1", "bash", "-c", f"{JOBS}; {NUMBER}; cat {NAME_FILE}")

    hurry = {"hyperpod_node/slurm/controller_daemon.py": ("TIMEOUT_S = 120", "TIMEOUT_S = 4")}
    error = again("controller-1", hurry=hurry).failed()

    assert error.startswith("lifecycle script failed: step 'slurmctld': slurmctld reports CLUSTER ID MISMATCH: ")
    assert f"delete {NAME_FILE} and run the script again to keep its jobs" in error
    assert cluster.run("controller-1", "bash", "-c", f"{JOBS}; {NUMBER}; cat {NAME_FILE}") == before
    cluster.run("controller-1", "rm", NAME_FILE)
    again("controller-1").succeeded()
    cluster.idle(2)
