"""The custom resource's properties: written by constructs/hyperpod, read by lambda_assets in Lambda."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster_request.request import RequestValues, cluster_request
from cluster_resource.aws_api import OPERATIONS, sagemaker_client
from cluster_resource.desired import Desired
from cluster_resource.event import CLUSTER as CLUSTER_TYPE
from cluster_resource.event import Event
from stacks.clusters_app import PROJECT
from tests.contract.deployed import Deployed, as_cloudformation_sends
from tests.synth.synthesized import CLUSTER, Synthesized, synthesize
from validation.load import load_cluster

STACK_ID = "arn:aws:cloudformation:us-west-2:123456789012:stack/every-kind-Cluster/00000000-0000-0000-0000-000000000000"

# One of every kind of value: text, number, flag, list, structures that are empty and count.
OVERRIDES = {"NodeProvisioningMode": "Continuous"}
GROUP_OVERRIDES = {
    "ScheduledUpdateConfig": {
        "ScheduleExpression": "cron(0 3 ? * SUN *)",
        "DeploymentConfig": {
            "WaitIntervalInSeconds": 60,
            "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2}},
        },
    },
    "CapacityRequirements": {"OnDemand": {}},
}


@pytest.fixture(scope="session")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster file whose request has values of every kind."""
    content = yaml.safe_load((PROJECT / "examples/clusters/resilient-p5.yaml").read_text())
    content["overrides"] = OVERRIDES
    content["tags"] = {"team": "research"}
    content["instance_groups"][2] |= {"overrides": GROUP_OVERRIDES, "volume_gib": 500}
    file = tmp_path_factory.mktemp("clusters") / "every-kind.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.fixture(scope="session")
def outdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="session")
def synthesized(every_kind: Path, outdir: Path) -> Synthesized:
    return synthesize(outdir, every_kind.parent)


@pytest.fixture
def properties(synthesized: Synthesized) -> dict[str, Any]:
    """The properties as the entry function gets them."""
    properties: dict[str, Any] = as_cloudformation_sends(
        Deployed(synthesized, "every-kind").properties(CLUSTER, "Custom::HyperPodCluster")
    )
    return properties


@pytest.fixture
def client(synthesized: Synthesized, outdir: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The step function's client, with the service model that is in its asset."""
    code = synthesized["every-kind", CLUSTER].properties("AWS::Lambda::Function", named="Step")["Code"]
    [package] = outdir.glob(f"0/asset.{code['S3Key'].removesuffix('.zip')}/cluster_resource")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    return sagemaker_client(package / "service_model")


@pytest.fixture
def desired(properties: dict[str, Any], client: Any) -> Desired:
    event = Event.parse(
        {
            "RequestType": "Create",
            "RequestId": "one",
            "StackId": STACK_ID,
            "LogicalResourceId": "Cluster",
            "ResourceType": CLUSTER_TYPE,
            "ResponseURL": "https://127.0.0.1/answer",
            "ResourceProperties": properties,
        }
    )
    return Desired.of(event, client.meta.service_model.operation_model("CreateCluster").input_shape)


@pytest.mark.fault(43)
def test_the_request_comes_through_with_its_types(every_kind: Path, properties: dict[str, Any], desired: Desired) -> None:
    sent = properties["Request"]
    values = RequestValues(
        execution_role_arn=sent["InstanceGroups"][0]["ExecutionRole"],
        source_s3_uri=sent["InstanceGroups"][0]["LifeCycleConfig"]["SourceS3Uri"],
        subnet_ids=sent["VpcConfig"]["Subnets"],
        security_group_ids=sent["VpcConfig"]["SecurityGroupIds"],
    )
    expected = cluster_request(load_cluster(every_kind), values=values)
    expected.pop("Tags")
    assert desired.request == expected
    assert desired.request["InstanceGroups"][2]["InstanceCount"] == 4


def test_what_was_a_number_in_the_template_was_text_on_its_way(properties: dict[str, Any]) -> None:
    assert properties["Request"]["InstanceGroups"][2]["InstanceCount"] == "4"
    assert properties["WaitHours"] == "3"


def test_the_files_tags_come_through(desired: Desired) -> None:
    assert desired.tags == {"hyperpod-cdk:cluster": "every-kind", "team": "research"}


def test_what_else_the_function_needs_comes_through(desired: Desired) -> None:
    assert desired.wait == "nodes"
    assert desired.wait_hours == 3
    assert desired.controller_group == "controller-machine"
    assert desired.zone == "use2-az3"
    assert desired.name.startswith("every-kind-")
    assert not desired.is_name_fixed


def test_the_functions_role_allows_every_call_that_its_code_makes(synthesized: Synthesized) -> None:
    policy = synthesized["every-kind", CLUSTER].properties("AWS::IAM::Policy", named="Step")
    allowed: set[str] = set()
    for statement in policy["PolicyDocument"]["Statement"]:
        allowed |= {statement["Action"]} if isinstance(statement["Action"], str) else set(statement["Action"])
    assert {f"sagemaker:{operation}" for operation in OPERATIONS} <= allowed


def test_the_waits_and_the_tail_get_what_they_read(synthesized: Synthesized) -> None:
    """Read in cluster_resource.waits and cluster_resource.step."""
    stack = synthesized["every-kind", CLUSTER]
    cluster, _ = stack.one("Custom::HyperPodCluster")
    second, third = (as_cloudformation_sends(stack.properties("Custom::HyperPodWait", named=f"Hour{hour}")) for hour in (2, 3))
    assert (second["Hour"], second["Last"], third["Hour"], third["Last"]) == ("2", "false", "3", "true")
    assert second["ClusterName"] == third["ClusterName"] == {"Ref": cluster}
    assert second["MinInstanceCounts"] == dict.fromkeys(("controller-machine", "login-group", "worker-group-1"), "0")
    assert stack.properties("Custom::HyperPodDeletion")["ClusterLogicalId"] == cluster
