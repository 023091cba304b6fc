"""GPU nodes that join a running cluster whose workers are of one type. GPU_JOINS=50 lets fifty join."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from local_aws import durations
from local_aws.credentials import OWNER
from local_aws.environment import PROJECT, aws_environment
from local_aws.nodes.runner import SimulatedNodes
from tests.node_settings import Json
from tests.nodes.cluster.operated import STACK, data_of, fitting
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import KEEPER, ONE_GPU, GpuCluster
from tests.simulator.hyperpod.world import REGION, World, until

pytestmark = pytest.mark.local
FILE = f"""\
region: us-west-2
network:
  availability_zone_id: usw2-az2
instance_groups:
  - {{name: controller, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}}
  - {{name: workers, role: compute, partition: dev, instance_type: {ONE_GPU}, instance_count: 3}}
"""
CHECK_S = 1800.0
"""Duration of a deep health check in AWS's time: three seconds."""


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes, file_system: Json) -> GpuCluster:
    """A cluster with one worker."""
    return GpuCluster.create(world, nodes, file_system, {"workers": ONE_GPU}, later=("without",))


def test_no_gpu_node_that_joins_is_drained(cluster: GpuCluster) -> None:
    joined = cluster.let_nodes_join("workers")
    print(f"{joined} nodes joined, drained: {cluster.drains()}")
    assert cluster.drains() == 0


def test_a_gpu_node_joins_before_the_keeper_has_seen_it(cluster: GpuCluster) -> None:
    cluster.controller(f"systemctl stop {KEEPER}")

    cluster.running.resize("workers", cluster.running.groups["workers"] + 1)

    cluster.until_all_idle_with_gpus()
    assert cluster.drains() == 0
    cluster.controller(f"systemctl start {KEEPER}")


def test_a_node_without_gpus_joins_and_is_idle_without_them(cluster: GpuCluster) -> None:
    cluster.running.resize("without", 1)  # until the keeper comes by, its node line has the others' GPUs

    host = cluster.running.machine("without-1")["host"]
    until(lambda: cluster.gpus().get(host), lambda state: state == "idle (null)", UP_S)
    cluster.running.resize("without", 0)


@pytest.fixture
def environment(cluster: GpuCluster, tmp_path: Path) -> dict[str, str]:
    """The environment of an operator with the plugin, whose folder has the file of the cluster."""
    world = cluster.running.world
    world.allow("ssmmessages:*", name="sessions")
    world.client("cloudformation").create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(STACK))
    (tmp_path / "ml.yaml").write_text(FILE)
    return aws_environment(world.endpoint, REGION, tmp_path, OWNER) | {"PYTHONPATH": str(PROJECT)}


def test_a_check_keeps_jobs_off_its_nodes_and_skips_those_whose_jobs_go_on(
    cluster: GpuCluster, environment: dict[str, str], tmp_path: Path
) -> None:
    cluster.running.resize("workers", 3)
    cluster.until_all_idle_with_gpus()
    durations.change({"hyperpod.node.deep_health_check": CHECK_S})
    tested, busy = (cluster.running.machine(name) for name in ("workers-1", "workers-2"))
    job = cluster.controller(f"sbatch --parsable --chdir=/tmp --output=/dev/null --nodelist={busy['host']} --wrap='sleep 600'")
    until(lambda: cluster.controller(f"squeue --noheader --jobs={job} --format=%T"), lambda state: state == "RUNNING", UP_S)
    command = [sys.executable, "-m", "cli", "health-check", "ml.yaml", "workers-1", "workers-2", "controller", "--yes"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as check:
        until(lambda: cluster.gpus()[tested["host"]], lambda state: state.startswith("maint"), UP_S)
        refused = f"srun --nodelist={tested['host']} --immediate=1 hostname 2>&1 || true"
        assert "Unable to allocate resources" in cluster.controller(refused)
        printed = fitting(check.communicate(timeout=UP_S)[0])

    assert check.returncode == 0
    assert re.search(rf"^{job} +root +RUNNING ", printed, re.MULTILINE)
    for node, result in ((tested, "passed"), (busy, "skipped"), (cluster.running.machine("controller-1"), "left out")):
        assert re.search(rf"^{node['name']} +{node['id']} +{result}\b", printed, re.MULTILINE), printed
    cluster.controller(f"scancel {job}")
    cluster.until_all_idle_with_gpus()

    done = subprocess.run(
        [*command, "--output", "json"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    data = data_of("health-check", done.stdout)
    assert (data["done"], {node["result"] for node in data["nodes"]}) == (True, {"passed", "left_out"})
    assert ["passed" in record["message"] for record in data["log"]] == [True] * 2  # and none of the check before
