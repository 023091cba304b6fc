"""Nodes that do not come up: the script fails, its permission is missing, the machine cannot be."""

import pytest

from local_aws.hyperpod import service_behaviour
from local_aws.nodes.runner import SimulatedNodes
from tests.nodes.cluster.running import UP_S, Running
from tests.simulator.hyperpod.world import World, until

pytestmark = pytest.mark.local
FAILING = "#!/bin/bash\necho mounting\necho 'step mount-fsx: mount.lustre: no such device' >&2\nexit 3\n"


def failed(world: World) -> str:
    """The cluster's failure once it has one."""
    return str(until(world.cluster, lambda cluster: cluster["ClusterStatus"] == "Failed", UP_S)["FailureMessage"])


def test_a_failing_script_fails_the_cluster_with_its_last_line_and_where_to_read_on(
    account: World, nodes: SimulatedNodes
) -> None:
    account.put_script("on_create.sh", FAILING)
    arn = account.create(account.group("workers"))
    message = failed(account)
    node = account.nodes()[0]
    assert message == (
        f"Instance group 'workers', instance {node['InstanceId']}: Lifecycle scripts did not run successfully: "
        "on_create.sh ended with status 3: step mount-fsx: mount.lustre: no such device. "
        f"See log stream LifecycleConfig/workers/{node['InstanceId']} "
        f"in log group /aws/sagemaker/Clusters/ml/{arn.rpartition('/')[2]}"
    )
    assert nodes.describe() == []


def test_a_worker_that_fails_goes_and_the_cluster_is_rolled_back_and_works(account: World, nodes: SimulatedNodes) -> None:
    running = Running(account, nodes, {"controller": 1, "workers": 1})
    running.create()
    account.put_script("on_create.sh", FAILING)
    running.resize("workers", 2)
    assert "step mount-fsx" in account.cluster()["FailureMessage"]
    assert [one["name"] for one in nodes.describe()] == ["controller-1", "workers-1"]
    running.idle(1)


@pytest.mark.parametrize("action", ["s3:ListBucket", "s3:GetObject"])
def test_a_role_that_may_not_fetch_the_scripts_fails_the_node(account: World, nodes: SimulatedNodes, action: str) -> None:
    account.allow_all_but(action)
    account.create(account.group("workers"))
    assert f"the execution role {account.role} is not authorized to perform {action}" in failed(account)


def test_a_role_that_may_fetch_no_more_than_the_entry_script_fails_the_node(account: World, nodes: SimulatedNodes) -> None:
    account.allow_all_but("s3:GetObject")
    account.allow("s3:GetObject", resource="arn:aws:s3:::sagemaker-scripts/lifecycle/1/on_create.sh", name="entry")
    account.create(account.group("workers"))
    assert "could not download s3://sagemaker-scripts/lifecycle/1/provisioning_parameters.json: AccessDenied" in failed(account)


def test_a_cluster_outside_a_vpc_cannot_have_nodes_that_run(account: World, nodes: SimulatedNodes) -> None:
    service_behaviour.choose({"describe_cluster": "current"})
    account.sagemaker.create_cluster(ClusterName="ml", InstanceGroups=[account.group("workers")])
    assert "give the cluster a VpcConfig" in failed(account)
