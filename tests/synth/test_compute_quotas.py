"""The resource of compute quotas: its properties as its code reads them, and its rights."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from constructs.hyperpod.cluster.function_package import QUOTA_PACKAGE, write_package
from constructs.hyperpod.kubernetes.compute_quotas import ComputeQuotas
from quota_resource.properties import Desired
from quota_resource.quota_api import OPERATIONS

Json = dict[str, Any]
ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghij12"
QUOTA = {
    "Name": "research-vision",
    "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": 2, "VCpu": 1.5}]},
    "ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 10},
}
SCHEDULER = {"Name": "research", "SchedulerConfig": {"PriorityClasses": [{"Name": "training", "Weight": 80}]}}


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("quotas")))
    stack = cdk.Stack(app, "Addons")
    ComputeQuotas(
        stack,
        "Quotas",
        cluster_arn=ARN,
        eks_cluster_name="research",
        quotas=[QUOTA],
        identity="1",
        tags={"team": "research"},
        scheduler=SCHEDULER,
    )
    found: dict[str, Json] = Template.from_stack(stack).to_json()["Resources"]
    return found


def resource(resources: dict[str, Json]) -> Json:
    [found] = [each for each in resources.values() if each["Type"] == "Custom::HyperPodComputeQuotas"]
    return found


def test_the_code_reads_what_the_construct_writes(resources: dict[str, Json]) -> None:
    properties = {name: value for name, value in resource(resources)["Properties"].items() if name != "ServiceToken"}
    desired = Desired.of(properties)
    assert desired.cluster_arn == ARN
    assert {team: {"Name": item.name, **item.settings} for team, item in desired.quotas.items()} == {"vision": QUOTA}
    assert [{"Name": item.name, **item.settings} for item in desired.scheduler.values()] == [SCHEDULER]
    assert desired.tags == {"team": "research"}


def test_the_step_function_may_call_every_operation(resources: dict[str, Json]) -> None:
    statements = [
        statement
        for each in resources.values()
        if each["Type"] == "AWS::IAM::Policy"
        for statement in each["Properties"]["PolicyDocument"]["Statement"]
    ]
    actions = {action for each in statements for action in _list(each["Action"])}
    assert {f"sagemaker:{operation}" for operation in OPERATIONS} <= actions


def test_changes_require_the_tags_of_the_resource(resources: dict[str, Json]) -> None:
    changing = ("Create", "Update", "Delete", "Add")
    for each in resources.values():
        for statement in each["Properties"].get("PolicyDocument", {}).get("Statement", ()):
            operations = [action.removeprefix("sagemaker:") for action in _list(statement["Action"]) if "sagemaker:" in action]
            if any(operation.startswith(changing) for operation in operations):
                conditions = json.dumps(statement["Condition"]["StringEquals"])
                assert "hyperpod-cdk:stack-id" in conditions
                assert "hyperpod-cdk:logical-id" in conditions


def test_the_quotas_depend_on_their_provider(resources: dict[str, Json]) -> None:
    types = {resources[name]["Type"] for name in resource(resources)["DependsOn"]}
    assert {"AWS::Lambda::Function", "AWS::IAM::Policy", "AWS::StepFunctions::StateMachine"} <= types


def test_the_package_has_the_code_and_the_model_of_quotas(tmp_path: Path) -> None:
    write_package(tmp_path, QUOTA_PACKAGE)
    [model] = tmp_path.rglob("service-2.json")
    assert set(json.loads(model.read_bytes())["operations"]) == set(OPERATIONS)
    assert (tmp_path / "quota_resource" / "step.py").is_file()
    assert (tmp_path / "cluster_resource" / "entry.py").is_file()


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
