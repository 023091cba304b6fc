"""A cluster's life with nodes that run: created, rebooted, grown, mended, patched, shrunk, deleted.

Each test goes on from the one before.
"""

import json
from pathlib import Path

import pytest

from local_aws.nodes import cgroups
from local_aws.nodes.registry import Registry
from tests.nodes.cluster.running import Running
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local
OWN_LINE = "# a script's own line"


def test_nodes_run_when_the_cluster_is_in_service(cluster: Running) -> None:
    names = [one["name"] for one in cluster.runner.describe()]
    assert sorted(names) == ["controller-1", "login-1", "workers-1", "workers-2"]
    assert cluster.run("workers-1", "hostname") == cluster.machine("workers-1")["host"]
    assert cluster.listed_on("login-1") == {one["name"]: one["address"] for one in cluster.runner.describe()}


def test_the_scripts_output_is_in_the_nodes_log_stream(cluster: Running) -> None:
    log = cluster.log_of("workers-1")
    assert log[0] == "[SageMaker] Downloading lifecycle scripts from s3://sagemaker-scripts/lifecycle/1/"
    assert f"on_create of {cluster.machine('workers-1')['host']}" in log
    assert log[-1] == "[SageMaker] The lifecycle scripts succeeded."


def test_a_node_knows_itself_by_its_metadata(cluster: Running) -> None:
    service, header = "http://169.254.169.254/latest", "X-aws-ec2-metadata-token"
    token = cluster.run("workers-2", "curl", "-sfX", "PUT", "-H", f"{header}-ttl-seconds: 60", f"{service}/api/token")
    text = cluster.run("workers-2", "curl", "-sf", "-H", f"{header}: {token}", f"{service}/dynamic/instance-identity/document")
    identity = json.loads(text)
    assert identity["instanceId"] == cluster.machine("workers-2")["id"]
    assert identity["privateIp"] == cluster.machine("workers-2")["address"]


def test_slurm_has_the_workers_and_runs_jobs_on_them(cluster: Running) -> None:
    cluster.idle(2)
    hosts = cluster.run("controller-1", "srun", "--immediate=20", "-N2", "hostname").splitlines()
    assert sorted(hosts) == sorted(cluster.machine(f"workers-{number}")["host"] for number in (1, 2))


def test_a_rebooted_node_keeps_its_disk_and_its_scripts_do_not_run_again(cluster: Running) -> None:
    before = cluster.machine("workers-1")
    cluster.world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    until(lambda: cluster.machine("workers-1")["status"], lambda status: status == "Running", 30)
    assert cluster.machine("workers-1") == before
    assert cluster.run("workers-1", "cat", "/var/lib/runs") == "run"
    assert cluster.run("workers-1", "sh", "-c", "ls /tmp | grep -c sagemaker || true") == "0"
    cluster.rebooted("workers-1")
    cluster.idle(2)


def test_only_the_new_worker_boots_and_the_others_learn_of_it(cluster: Running) -> None:
    before = {one["id"] for one in cluster.runner.describe()}
    cluster.resize("workers", 3)
    assert {one["name"] for one in cluster.runner.describe() if one["id"] not in before} == {"workers-3"}
    cluster.idle(3)
    address = cluster.machine("workers-3")["address"]
    for name in ("controller-1", "login-1", "workers-1"):
        assert cluster.listed_on(name)["workers-3"] == address
    assert cluster.run("workers-1", "cat", "/var/lib/runs") == "run"
    assert OWN_LINE in cluster.run("controller-1", "cat", "/opt/slurm/etc/slurm.conf").splitlines()


def test_a_replaced_node_is_another_machine_with_the_same_name_and_address(cluster: Running) -> None:
    before = cluster.machine("workers-2")
    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    cluster.settle()
    after = cluster.machine("workers-2")
    assert after["id"] != before["id"]
    assert (after["address"], after["host"]) == (before["address"], before["host"])
    cluster.rebooted("workers-2")
    assert before["host"] in cluster.idle(3)
    assert cluster.listed_on("login-1")["workers-2"] == after["address"]


def test_new_software_empties_the_root_volumes_and_runs_the_scripts_again(cluster: Running) -> None:
    before = cluster.machine("workers-1")
    cluster.run("workers-1", "sh", "-c", "echo old >/etc/left-behind; echo again >>/var/lib/runs")
    cluster.world.sagemaker.update_cluster_software(ClusterName="ml")
    cluster.settle()
    assert cluster.machine("workers-1") == before
    assert cluster.run("workers-1", "cat", "/var/lib/runs") == "run"
    assert cluster.run("workers-1", "sh", "-c", "ls /etc/left-behind 2>/dev/null || echo none") == "none"
    cluster.idle(3)


def test_a_worker_too_many_goes_and_slurm_forgets_it(cluster: Running) -> None:
    cluster.resize("workers", 1)
    assert {one["name"] for one in cluster.runner.describe()} == {"controller-1", "login-1", "workers-1"}
    cluster.idle(1)
    until(lambda: sorted(cluster.listed_on("controller-1")), lambda names: names == ["controller-1", "login-1", "workers-1"])
    assert {"workers-2", "workers-3"} < set(cluster.listed_on("login-1"))  # until another node joins


def test_a_deleted_cluster_leaves_nothing_on_the_machine(cluster: Running) -> None:
    folder = Path(cluster.machine("login-1")["folder"])
    entry = next(one for one in Registry().entries() if one.folder == str(folder))
    cluster.world.sagemaker.delete_cluster(ClusterName="ml")
    cluster.world.until_gone()
    until(lambda: [one.folder for one in Registry().entries()], lambda folders: str(folder) not in folders)
    assert not entry.lives
    assert cluster.runner.describe() == []
    assert not (cgroups.hierarchy() / entry.cgroup).exists()
    assert str(folder) not in Path("/proc/self/mounts").read_text()
