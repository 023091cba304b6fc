"""A cluster whose nodes take longer than CloudFormation waits for one resource, and a file that keeps nothing."""

import shutil

import pytest
import yaml

from local_aws.clock import clock
from local_aws.testing import Client
from tests.local.walk.conftest import WorkspaceIn
from tests.local.walk.leftovers import leftovers

pytestmark = [pytest.mark.cdk, pytest.mark.local, pytest.mark.long]

CLUSTER, REGION = "resilient-p5", "us-east-2"


def test_deep_health_checks_are_waited_for_in_further_resources_and_a_file_that_keeps_nothing_leaves_nothing(
    workspace_in: WorkspaceIn, client: Client
) -> None:
    workspace = workspace_in(REGION)
    path = workspace.folder / "clusters" / f"{CLUSTER}.yaml"
    shutil.copy(workspace.folder / "examples" / "clusters" / path.name, path)
    file = yaml.safe_load(path.read_text())
    file["storage"]["lustre"]["removal"] = "destroy"
    file["storage"]["data_bucket"] = {"removal": "destroy"}
    path.write_text(yaml.safe_dump(file, sort_keys=False))

    clock.set_speed(300)  # the checks take an hour and a half
    workspace.deploy(CLUSTER)
    sagemaker = client("sagemaker", region_name=REGION)
    [cluster] = sagemaker.list_clusters()["ClusterSummaries"]
    described = sagemaker.describe_cluster(ClusterName=cluster["ClusterName"])
    assert described["ClusterStatus"] == "InService"
    assert described["NodeRecovery"] == "Automatic"
    assert {group["CurrentCount"] for group in described["InstanceGroups"]} == {1, 4}
    resources = client("cloudformation", region_name=REGION).describe_stack_resources(StackName=f"{CLUSTER}-Cluster")
    finished = {each["ResourceType"]: each["Timestamp"] for each in resources["StackResources"]}
    assert finished["Custom::HyperPodCluster"] < finished["Custom::HyperPodWait"]

    workspace.destroy(CLUSTER)
    left = leftovers(lambda service: client(service, region_name=REGION))
    assert all(name.startswith("/aws/sagemaker/Clusters/") for name in left.pop("log group"))
    assert left == {}
