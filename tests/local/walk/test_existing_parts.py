"""A cluster for which everything else is there already: stacks that make nothing, and a destroy that touches nothing."""

from dataclasses import dataclass

import pytest
import yaml

from local_aws.testing import Client
from tests.local.other_network import OtherNetwork, make_other_file_system, make_other_network
from tests.local.walk.conftest import WorkspaceIn
from tests.local.walk.leftovers import leftovers
from tests.local.walk.workspace import Workspace

pytestmark = [pytest.mark.cdk, pytest.mark.local, pytest.mark.long]

REGION = "us-west-2"


@dataclass(frozen=True)
class Existing:
    """What another team made."""

    network: OtherNetwork
    file_system: dict[str, str]
    bucket: str


def test_a_cluster_on_imported_parts_starts_and_its_destroy_leaves_them_unchanged(
    workspace_in: WorkspaceIn, client: Client
) -> None:
    workspace = workspace_in(REGION)
    existing = _make(client)
    _describe(workspace, existing)
    before = leftovers(client)

    workspace.deploy()

    sagemaker = client("sagemaker")
    [cluster] = sagemaker.list_clusters()["ClusterSummaries"]
    described = sagemaker.describe_cluster(ClusterName=cluster["ClusterName"])
    assert described["ClusterStatus"] == "InService"
    assert described["VpcConfig"] == {"SecurityGroupIds": [existing.network.group], "Subnets": [existing.network.subnet]}
    cloudformation = client("cloudformation")
    made = {
        stack: [each["ResourceType"] for each in cloudformation.describe_stack_resources(StackName=stack)["StackResources"]]
        for stack in ("reference-Network", "reference-Storage")
    }
    assert made == {
        "reference-Network": ["AWS::CloudFormation::WaitConditionHandle"],
        "reference-Storage": ["AWS::CloudFormation::WaitConditionHandle"],
    }

    workspace.destroy()
    after = leftovers(client)
    assert all(name.startswith("/aws/sagemaker/Clusters/") for name in after.pop("log group"))
    assert after == before


def _make(client: Client) -> Existing:
    network = make_other_network(client)
    client("s3").create_bucket(Bucket="datasets", CreateBucketConfiguration={"LocationConstraint": REGION})
    return Existing(network, make_other_file_system(client, network), "datasets")


def _describe(workspace: Workspace, existing: Existing) -> None:
    path = workspace.folder / "clusters" / "reference.yaml"
    file = yaml.safe_load(path.read_text())
    file["network"] = existing.network.section
    file["storage"] = {
        "existing": existing.file_system,
        "data_bucket": {"existing": existing.bucket},
    }
    path.write_text(yaml.safe_dump(file, sort_keys=False))
