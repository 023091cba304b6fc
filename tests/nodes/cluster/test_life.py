"""A cluster's life with nodes that run: created, grown, shrunk, patched, mended, rebooted."""

import json

import pytest

from tests.nodes.cluster.running import Running

pytestmark = pytest.mark.local


def test_nodes_run_when_the_cluster_is_in_service(cluster: Running) -> None:
    names = [one["name"] for one in cluster.runner.describe()]
    assert sorted(names) == ["controller-1", "login-1", "workers-1", "workers-2"]
    assert cluster.run("workers-1", "hostname") == cluster.machine("workers-1")["host"]
    config = json.loads(cluster.run("login-1", "cat", "/opt/ml/config/resource_config.json"))
    listed = {one["InstanceName"]: one["CustomerIpAddress"] for group in config["InstanceGroups"] for one in group["Instances"]}
    assert listed == {one["name"]: one["address"] for one in cluster.runner.describe()}


def test_the_scripts_output_is_in_the_nodes_log_stream(cluster: Running) -> None:
    host = cluster.machine("workers-1")["host"]
    log = cluster.log_of("workers-1")
    assert log[0] == "[SageMaker] Downloading lifecycle scripts from s3://sagemaker-scripts/lifecycle/1/"
    assert f"on_create of {host}" in log
    assert log[-1] == "[SageMaker] The lifecycle scripts succeeded."


def test_slurm_has_the_workers_and_runs_jobs_on_them(cluster: Running) -> None:
    cluster.idle(2)
    hosts = cluster.run("controller-1", "srun", "--immediate=20", "-N2", "hostname").splitlines()
    assert sorted(hosts) == sorted(cluster.machine(f"workers-{number}")["host"] for number in (1, 2))
