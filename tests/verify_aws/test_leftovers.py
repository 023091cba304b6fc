"""A verification touches only resources of its own name, and refuses a name that is in use."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError

from cli.deployment import STACKS, Deployment
from config.model import Orchestrator
from local_aws import server
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION, aws, clients_of
from tests.simulator.hyperpod.world import World
from tests.verify_aws.__main__ import RefusedError, _require_unused
from tests.verify_aws.evidence import Evidence
from tests.verify_aws.leftovers import leftovers, log_groups_of_nodes
from tests.verify_aws.live_cluster import LiveCluster

__all__ = ["aws"]
pytestmark = pytest.mark.local

HASH = "0123456789ab"
OTHER_CLUSTERS = (f"demo-gpu-{HASH}", f"my-demo-{HASH}", f"demo-{HASH}-0")
OTHERS_LOGS = (f"/aws/sagemaker/Clusters/demo-gpu-{HASH}/id", "/aws/lambda/demo-gpu-Cluster-x", "demo-gpu-Network-x")
Deployed = Callable[[str], Deployment]


@pytest.fixture
def deployed(aws: EmbeddedAws) -> Iterator[Deployed]:
    """A deployment of a name without stacks, beside the clusters, logs and bucket of names that contain `demo`."""
    server.reset()
    world = World(aws.endpoint)
    world.make()
    client = clients_of(aws)
    for cluster in OTHER_CLUSTERS:
        world.create(world.group("workers", 0), name=cluster)
    for group in OTHERS_LOGS:
        client("logs").create_log_group(logGroupName=group)
    create_bucket(client, "sagemaker-demo-gpu-210987654321-us-west-2")

    def deployment(name: str) -> Deployment:
        stacks = [f"{name}-{suffix}" for suffix in STACKS[Orchestrator.SLURM]]
        values = SimpleNamespace(
            config=SimpleNamespace(name=name), client=client, region=REGION, read_stacks=list, stack_names=stacks
        )
        return cast("Deployment", values)

    yield deployment
    server.reset()


def create_bucket(client: Callable[[str], Any], name: str) -> None:
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})


def test_resources_of_a_name_with_the_same_beginning_are_not_touched(deployed: Deployed, tmp_path: Any) -> None:
    deployment = deployed("demo")
    assert leftovers(deployment, "cdk destroy") == ()
    assert log_groups_of_nodes(deployment) == []
    assert LiveCluster(deployment, Evidence(tmp_path)).described() is None
    _require_unused(deployment, "cdk destroy")


def test_a_name_in_use_is_refused(deployed: Deployed) -> None:
    deployment = deployed("demo")
    buckets = ("demo-storage-data", "sagemaker-demo-210987654321-us-west-2")
    groups = (
        f"/aws/sagemaker/Clusters/demo-{HASH}/id",
        "/aws/vendedlogs/states/demo-Cluster-Machine",
        "/aws/lambda/demo-Cluster-Function",
        "demo-Network-FlowLogs",
        "/aws/containerinsights/demo/performance",
        "/aws/eks/demo/cluster",
    )
    for bucket in buckets:
        create_bucket(deployment.client, bucket)
    for group in groups:
        deployment.client("logs").create_log_group(logGroupName=group)
    existing = ", ".join([*(f"bucket {name}" for name in buckets), *(f"log group {name}" for name in groups)])
    with pytest.raises(RefusedError) as error:
        _require_unused(deployment, "cdk destroy")
    assert str(error.value) == f"--name: demo is in use: {existing}; choose another name"


def test_the_name_of_a_cluster_is_refused(deployed: Deployed, tmp_path: Any) -> None:
    deployment = deployed("demo-gpu")
    with pytest.raises(RefusedError, match=rf"--name: demo-gpu is in use: cluster \(\w+\) {OTHER_CLUSTERS[0]}, .*; choose"):
        _require_unused(deployment, "cdk destroy")
    described = LiveCluster(deployment, Evidence(tmp_path)).described()
    assert described is not None
    assert described["ClusterName"] == OTHER_CLUSTERS[0]


def test_resources_that_cannot_be_listed_are_refused(deployed: Deployed, aws: EmbeddedAws) -> None:
    deployment = deployed("demo")
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListBuckets")
    refusing = SimpleNamespace(list_buckets=Mock(side_effect=denied))
    cast("Any", deployment).client = lambda service: refusing if service == "s3" else clients_of(aws)(service)
    with pytest.raises(RefusedError, match=r"unknown buckets: .*AccessDenied.*; the teardown must list them: add the permission"):
        _require_unused(deployment, "cdk destroy")
