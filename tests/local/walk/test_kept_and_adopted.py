"""A cluster outlives its stack, another file adopts it without touching it, and it goes with that file's stack."""

from typing import Any

import pytest
import yaml

from local_aws.clock import clock
from local_aws.testing import Client, ask
from tests.local.walk.workspace import Workspace

pytestmark = [pytest.mark.cdk, pytest.mark.local, pytest.mark.long]

STACK = "mine-Cluster"
QUOTA = "ml.trn1.32xlarge for cluster usage"
KEPT_APART: dict[str, Any] = {"storage": {"lustre": {}, "data_repository_associations": []}}


def change(workspace: Workspace, name: str, **fields: Any) -> None:
    """Set fields of a cluster file; None takes one away."""
    path = workspace.folder / "clusters" / f"{name}.yaml"
    content = {**yaml.safe_load(path.read_text()), **fields}
    path.write_text(yaml.safe_dump({name: value for name, value in content.items() if value is not None}, sort_keys=False))


def groups(workspace: Workspace, workers: int) -> list[dict[str, Any]]:
    """The adopting file's groups with another number of workers."""
    *others, last = yaml.safe_load((workspace.folder / "clusters" / "mine.yaml").read_text())["instance_groups"]
    return [*others, {**last, "instance_count": workers}]


def described(sagemaker: Any, name: str) -> dict[str, Any]:
    """All that DescribeCluster tells."""
    found: dict[str, Any] = sagemaker.describe_cluster(ClusterName=name)
    del found["ResponseMetadata"]
    return found


def changes() -> list[str]:
    """The calls that changed a cluster or its tags."""
    names = [request["operation"] for request in ask("requests") if request["service"] == "sagemaker"]
    return [name for name in names if not name.startswith(("Describe", "List"))]


def test_a_kept_cluster_is_adopted_without_being_touched(workspace: Workspace, client: Client) -> None:
    clock.set_speed(600)
    sagemaker, cloudformation = client("sagemaker"), client("cloudformation")
    change(workspace, "reference", removal="retain", **KEPT_APART)
    workspace.deploy()
    [summary] = sagemaker.list_clusters()["ClusterSummaries"]
    name, arn = summary["ClusterName"], summary["ClusterArn"]
    workspace.destroy()
    made = described(sagemaker, name)
    assert made["ClusterStatus"] == "InService"

    workspace.hpod("import", "--from-cluster", name, "--write", "clusters/mine.yaml")
    workspace.hpod("adopt", "mine", "--release", "--yes")
    before = changes()
    ask("quotas", "POST", f'{{"{QUOTA}": 5}}'.encode())
    change(workspace, "mine", instance_groups=groups(workspace, 6))
    assert QUOTA in workspace.deploy("mine", fails=True)
    assert changes()[len(before) :] == ["AddTags", "UpdateCluster", "DeleteTags"]
    assert described(sagemaker, name) == made, "the rollback gives back what it did not make"

    before = changes()
    change(workspace, "mine", instance_groups=groups(workspace, 4))
    assert "`cdk deploy 'mine/*'` would adopt it and add these tags and change nothing else" in workspace.hpod("adopt", "mine")
    workspace.deploy("mine")
    assert changes()[len(before) :] == ["AddTags", "AddTags"], "its owner, and the name of the file"
    assert described(sagemaker, name) == made
    outputs = {
        one["OutputKey"]: one["OutputValue"] for one in cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
    }
    assert (outputs["ClusterName"], outputs["ClusterArn"]) == (name, arn)

    change(workspace, "mine", adopt=None)
    workspace.deploy("mine")
    assert changes()[len(before) :] == ["AddTags", "AddTags"], "its owner, and the name of the file"
    workspace.destroy("mine")
    assert sagemaker.list_clusters()["ClusterSummaries"] == []
