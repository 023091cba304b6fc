"""From the cluster file through `cdk deploy` to jobs on a Slurm cluster, and a bundle with a mistake in it."""

import re
from typing import Any

import pytest

from local_aws.hyperpod import capacity
from local_aws.nodes.runner import SimulatedNodes
from local_aws.testing import Client
from tests.local.walk.workspace import Workspace
from tests.nodes.cluster.operated import data_of, fitting
from tests.nodes.cluster.running import UP_S
from tests.nodes.on_nodes import OnNodes
from tests.simulator.hyperpod.world import until

pytestmark = [pytest.mark.cdk, pytest.mark.local]

WORKERS = [f"compute-nodes-{number}" for number in (1, 2, 3, 4)]
ALL = ["controller-machine-1", "login-group-1", *WORKERS]
BROKEN = """\
#!/usr/bin/env bash
set -euo pipefail
echo "looking for the data set"
if [[ "$HYPERPOD_NODE_NAME" == compute-nodes-2 ]]; then
  ls /fsx/data-set-that-nobody-copied
fi
"""


def test_a_bundle_that_fails_on_one_worker_fails_the_deployment_with_its_reason_and_mended_it_succeeds(
    workspace: Workspace, nodes: SimulatedNodes, client: Client
) -> None:
    scripts = workspace.folder / "clusters" / "extra" / "before_slurm"
    scripts.mkdir(parents=True)
    script = scripts / "10-data.sh"
    script.write_text(BROKEN)
    cluster_file = workspace.folder / "clusters" / "reference.yaml"
    cluster_file.write_text(cluster_file.read_text() + "\nlifecycle:\n  extra: extra\n")

    printed = workspace.deploy(fails=True)
    reason = next(line for line in printed.splitlines() if "CREATE_FAILED" in line and "Custom::HyperPodCluster" in line)
    for part in ("compute-nodes", "your scripts before Slurm", "10-data.sh", "No such file or directory"):
        assert part in reason
    [stack] = client("cloudformation").describe_stacks(StackName="reference-Cluster")["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert client("sagemaker").list_clusters()["ClusterSummaries"] == []
    assert nodes.describe() == []

    script.write_text(BROKEN.replace("/fsx/data-set-that-nobody-copied", "/fsx"))
    workspace.deploy()
    assert sorted(OnNodes(nodes).names()) == sorted(ALL)


def test_the_file_becomes_a_slurm_cluster(workspace: Workspace, nodes: SimulatedNodes) -> None:
    """Goes on with the cluster of the test before."""
    if not nodes.describe():
        workspace.deploy()
    on = OnNodes(nodes)
    hosts = {on.host(name) for name in WORKERS}

    assert on.hosts_in_state("idle", count=len(hosts)) == hosts
    assert set(on.run("login-group-1", "srun", "--immediate=30", "-N4", "hostname").splitlines()) == hosts
    assert {on.run(name, "id", "alice") for name in ALL} == {"uid=10001(alice) gid=10001(alice) groups=10001(alice)"}

    as_alice = ("sudo", "--login", "--user=alice")
    submitted = on.run("login-group-1", *as_alice, "sbatch", "--wait", "--nodes=4", "--wrap=srun hostname >names")
    job = re.findall(r"Submitted batch job (\d+)", submitted)[0]
    assert set(on.run("login-group-1", *as_alice, "cat", "/fsx/home/alice/names").splitlines()) == hosts
    look = ("sacct", "--allocations", "--noheader", "--parsable2", "--format=user,state")
    assert on.run("login-group-1", *look, f"--jobs={job}") == "alice|COMPLETED"
    services = ("mariadb", "slurmdbd", "slurmctld")
    assert on.run("controller-machine-1", "systemctl", "is-active", *services).splitlines() == ["active"] * len(services)


def test_drift_names_what_differs_between_the_file_and_the_cluster(
    workspace: Workspace, nodes: SimulatedNodes, client: Client
) -> None:
    """Goes on with the cluster of the tests before."""
    if not nodes.describe():
        workspace.deploy()

    def drift() -> dict[str, Any]:
        return data_of("drift", workspace.hpod("drift", "reference", "--output", "json"))

    fresh = until(drift, lambda found: found["nodes_without_agent"] == 0, UP_S)
    assert (fresh["in_sync"], fresh["differences"]) == (True, [])
    assert "no differences" in fitting(workspace.hpod("drift", "reference", "--exit-code"))

    sagemaker = client("sagemaker")
    cluster = sagemaker.describe_cluster(ClusterName=fresh["cluster"])
    [group] = [each for each in cluster["InstanceGroups"] if each["InstanceGroupName"] == "compute-nodes"]
    names = ("InstanceGroupName", "InstanceType", "ExecutionRole", "ThreadsPerCore", "InstanceStorageConfigs")
    script = {**group["LifeCycleConfig"], "OnCreate": "other.sh"}
    changed = {name: group[name] for name in names if name in group} | {"InstanceCount": 3, "LifeCycleConfig": script}
    sagemaker.update_cluster(ClusterName=fresh["cluster"], InstanceGroups=[changed])
    sagemaker.add_tags(ResourceArn=cluster["ClusterArn"], Tags=[{"Key": "team", "Value": "vision"}])
    until(lambda: sagemaker.describe_cluster(ClusterName=fresh["cluster"])["ClusterStatus"], lambda now: now == "InService", UP_S)

    found = {(each["place"], each["field"]): (each["desired"], each["observed"]) for each in drift()["differences"]}
    assert found.keys() == {
        ("group compute-nodes", "InstanceCount"),
        ("group compute-nodes", "LifeCycleConfig"),
        ("cluster", "tag team"),
    }
    assert found["group compute-nodes", "InstanceCount"] == ("4", "3")
    assert "other.sh" in found["group compute-nodes", "LifeCycleConfig"][1]
    assert "3 differences" in workspace.hpod("drift", "reference", "--exit-code", fails=True)


def test_two_nodes_join_others_get_a_user_and_a_destroy_ends_them_all(workspace: Workspace, nodes: SimulatedNodes) -> None:
    """Goes on with the cluster of the tests before."""
    if not nodes.describe():
        workspace.deploy()
    on = OnNodes(nodes)
    before = {on.host(name) for name in on.names() if name in WORKERS}
    workspace.hpod("scale", "reference", "compute-nodes", "6")
    workspace.replace("clusters/reference.yaml", "users:\n", "users:\n  - {name: carol, uid: 10003}\n")
    assert "applied on 8 of 8 nodes" in workspace.deploy()
    assert {on.run(name, "id", "carol") for name in ALL} == {"uid=10003(carol) gid=10003(carol) groups=10003(carol)"}
    joined = {on.host(f"compute-nodes-{number}") for number in range(1, 7)} - before
    assert on.hosts_in_state("idle", count=6) == before | joined
    assert len(on.run("login-group-1", "srun", "--immediate=30", "-N6", "hostname").splitlines()) == 6

    workspace.destroy()
    assert nodes.describe() == []


def test_hyperpod_configures_slurm_and_provisions_continuously(workspace: Workspace, nodes: SimulatedNodes) -> None:
    """Six workers are requested, and AWS has four until the deployment is done."""
    workspace.replace("clusters/reference.yaml", "  setup: scripts\n", "  setup: api\nprovisioning: continuous\n")
    counts = "instance_count: {}\n    min_instance_count: 3\n    threads_per_core"
    now = "6" if "instance_count: 6" in (workspace.folder / "clusters" / "reference.yaml").read_text() else "4"
    workspace.replace("clusters/reference.yaml", f"instance_count: {now}\n    threads_per_core", counts.format(6))
    capacity.limit({"ml.trn1.32xlarge": 4})
    printed = workspace.deploy()
    missing = r"MissingNodes = compute-nodes \([34] of 6 nodes run\)"
    assert re.search(missing, printed)
    on = OnNodes(nodes)
    four = on.hosts_in_state("idle", count=4)
    assert four == {on.host(name) for name in WORKERS}
    capacity.reset()
    assert on.hosts_in_state("idle", count=6) == four | {on.host(f"compute-nodes-{number}") for number in (5, 6)}
    assert len(on.run("login-group-1", "srun", "--immediate=30", "-N6", "hostname").splitlines()) == 6
    as_alice = ("sudo", "--login", "--user=alice")
    on.run("login-group-1", *as_alice, "sbatch", "--wait", "--wrap=srun hostname >again")
    assert on.run("login-group-1", *as_alice, "cat", "/fsx/home/alice/again").startswith("ip-")
    look = ("sacct", "--allocations", "--noheader", "--parsable2", "--format=user,state", "--name=wrap")
    assert on.run("login-group-1", *look) == "alice|COMPLETED"

    workspace.replace("clusters/reference.yaml", "  setup: api\nprovisioning: continuous\n", "  setup: scripts\n")
    assert "set `slurm: {setup: api}`" in workspace.deploy(fails=True)
    workspace.destroy()
    assert nodes.describe() == []
