"""Each file of examples/clusters deploys as its first lines say: copied to clusters/, with the scripts that it names."""

import shutil
from pathlib import Path

import pytest
import yaml

from local_aws.clock import clock
from local_aws.testing import Client
from tests.local.walk.conftest import WorkspaceIn

pytestmark = [pytest.mark.cdk, pytest.mark.local, pytest.mark.long]

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("file", sorted((EXAMPLES / "clusters").glob("*.yaml")), ids=lambda file: file.stem)
def test_an_example_deploys(file: Path, workspace_in: WorkspaceIn, client: Client) -> None:
    content = yaml.safe_load(file.read_text())
    workspace = workspace_in(content["region"])
    shutil.copy(file, workspace.folder / "clusters" / file.name)
    shutil.copytree(EXAMPLES / "scripts", workspace.folder / "scripts")

    clock.set_speed(600)  # deep health checks take an hour and a half
    workspace.deploy(file.stem)
    sagemaker = client("sagemaker", region_name=content["region"])
    [cluster] = sagemaker.list_clusters()["ClusterSummaries"]
    described = sagemaker.describe_cluster(ClusterName=cluster["ClusterName"])
    assert described["ClusterStatus"] == "InService"
    assert {group["InstanceGroupName"]: group["CurrentCount"] for group in described["InstanceGroups"]} == {
        group["name"]: group["instance_count"] for group in content["instance_groups"]
    }
