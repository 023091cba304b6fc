"""A cluster goes from CloudFormation's own resource to ours without being touched, and at the end with its stack."""

import sys
from typing import Any

import pytest
import yaml

from local_aws.clock import clock
from local_aws.testing import Client, ask
from tests.local.walk.leftovers import leftovers
from tests.local.walk.workspace import Workspace

pytestmark = [pytest.mark.cdk, pytest.mark.local, pytest.mark.long]

STACK = "reference-Cluster"
QUOTA = "ml.trn1.32xlarge for cluster usage"
KEPT_APART: dict[str, Any] = {"storage": {"lustre": {}, "data_repository_associations": []}}


def change(workspace: Workspace, **fields: Any) -> None:
    """Set fields of the cluster file; None takes one away."""
    path = workspace.folder / "clusters" / "reference.yaml"
    content = {**yaml.safe_load(path.read_text()), **fields}
    path.write_text(yaml.safe_dump({name: value for name, value in content.items() if value is not None}, sort_keys=False))


def groups(workspace: Workspace, workers: int) -> list[dict[str, Any]]:
    """The file's groups with another number of workers."""
    content = yaml.safe_load((workspace.folder / "clusters" / "reference.yaml").read_text())
    *others, last = content["instance_groups"]
    return [*others, {**last, "instance_count": workers}]


def deploy(workspace: Workspace, *, fails: bool = False) -> str:
    """Deploy the cluster's own stack alone."""
    options = ("--exclusively", "--require-approval", "never", "--progress", "events")
    return workspace.cdk("deploy", "reference/Cluster", *options, fails=fails)


def described(sagemaker: Any, name: str) -> dict[str, Any]:
    """All that DescribeCluster tells."""
    found: dict[str, Any] = sagemaker.describe_cluster(ClusterName=name)
    del found["ResponseMetadata"]
    return found


def changes() -> list[str]:
    """The calls that changed a cluster or its tags."""
    names = [request["operation"] for request in ask("requests") if request["service"] == "sagemaker"]
    return [name for name in names if not name.startswith(("Describe", "List"))]


def test_a_cluster_goes_from_the_native_resource_to_ours_without_being_touched(workspace: Workspace, client: Client) -> None:
    clock.set_speed(600)
    sagemaker, cloudformation = client("sagemaker"), client("cloudformation")
    change(workspace, implementation="native", removal="retain", **KEPT_APART)
    workspace.deploy()
    [summary] = sagemaker.list_clusters()["ClusterSummaries"]
    name, arn = summary["ClusterName"], summary["ClusterArn"]
    made = described(sagemaker, name)
    assert made["ClusterStatus"] == "InService"

    change(workspace, implementation="custom_resource", cluster_name=name, adopt=True)
    assert "Update of resource type is not permitted" in deploy(workspace, fails=True)
    assert described(sagemaker, name) == made

    change(workspace, implementation="none", adopt=None)
    deploy(workspace)
    assert described(sagemaker, name) == made

    before = changes()
    ask("quotas", "POST", f'{{"{QUOTA}": 5}}'.encode())
    change(workspace, implementation="custom_resource", adopt=True, instance_groups=groups(workspace, 6))
    assert QUOTA in deploy(workspace, fails=True)
    assert changes()[len(before) :] == ["AddTags", "UpdateCluster", "DeleteTags"]
    assert described(sagemaker, name) == made, "the rollback gives back what it did not make"

    before = changes()
    change(workspace, instance_groups=groups(workspace, 4))
    told = workspace.run(sys.executable, "-m", "cli", "adopt", "reference")
    assert "`cdk deploy 'reference/*'` would adopt it and change nothing else" in told
    deploy(workspace)
    assert changes()[len(before) :] == ["AddTags"]
    assert described(sagemaker, name) == made
    outputs = {
        one["OutputKey"]: one["OutputValue"] for one in cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
    }
    assert (outputs["ClusterName"], outputs["ClusterArn"]) == (name, arn)

    change(workspace, adopt=None, removal=None)
    workspace.deploy()
    assert changes()[len(before) :] == ["AddTags"]
    workspace.destroy()
    assert sagemaker.list_clusters()["ClusterSummaries"] == []
    of_the_file_system = {"file system", "network interface", "security group", "subnet", "vpc"}
    assert leftovers(client).keys() - {"log group"} == of_the_file_system, "what was kept for a while goes, too"
