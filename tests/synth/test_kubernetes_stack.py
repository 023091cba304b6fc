"""The stack of the EKS cluster: its parts, and the order in which they are created and deleted."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk.assertions import Annotations, Match

from cluster_resource.property_values import typed
from stacks.clusters_app import ClustersApp
from tests.cluster_files import EXAMPLES
from tests.corpus.validate_case import CHARTS
from tests.helm import path_with_helm
from tests.synth.synthesized import StackTemplate, synthesize_contents

KUBERNETES = "Kubernetes"
ADMIN = "arn:aws:iam::123456789012:role/Admin"
RESEARCHER = "arn:aws:iam::123456789012:role/Researcher"
CHANGES: dict[str, dict[str, Any]] = {
    "same": {},
    "access": {"admins": [ADMIN], "teams": [{"name": "research", "role_arns": [RESEARCHER]}]},
    "newer": {"version": "1.36"},
    "private": {"endpoint_access": "private"},
    "retained": {"removal": "retain", "admins": [ADMIN]},
    "own-vpc": {"control_plane_cidrs": ["10.4.1.0/28", "10.4.1.16/28"]},
    "existing": {"existing": {"name": "theirs"}, "version": None, "admins": [ADMIN]},
}

OWN_VPC = {"vpc_id": "vpc-00000001", "node_subnet_ids": ["subnet-00000001"], "security_group_id": "sg-00000001"}


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StackTemplate]:
    """Return the stack of eks.yaml for each change of its eks section."""
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    files = {name: {**content, "eks": {**content["eks"], **change}} for name, change in CHANGES.items()}
    files["own-vpc"]["network"] = {**content["network"], "existing": OWN_VPC}
    found = synthesize_contents(tmp_path_factory.mktemp("out"), files)
    return {name: found[name, KUBERNETES] for name in CHANGES}


@pytest.fixture
def stack(stacks: dict[str, StackTemplate]) -> StackTemplate:
    return stacks["access"]


def test_subnets_of_the_control_plane_are_cleaned_up_after_the_eks_cluster_and_before_they_are_deleted(
    stacks: dict[str, StackTemplate], stack: StackTemplate
) -> None:
    cleanup, resource = stack.one("Custom::HyperPodNetworkCleanup")
    subnets = [{"Ref": each} for each in stack.of_type("AWS::EC2::Subnet")]
    assert resource["Properties"]["SubnetIds"] == subnets
    cluster, _ = stack.one("AWS::EKS::Cluster")
    assert cleanup in stack.waits_for(cluster)
    assert stacks["own-vpc"].of_type("Custom::HyperPodNetworkCleanup") == {}
    assert stacks["retained"].one("Custom::HyperPodNetworkCleanup")[1]["DeletionPolicy"] == "RetainExceptOnCreate"


def test_an_output_has_the_kept_objects_of_the_last_response(stack: StackTemplate) -> None:
    dependencies, _ = stack.one("Custom::HyperPodDependencies")
    assert stack.outputs["KeptObjects"] == {"Fn::GetAtt": [dependencies, "KeptObjects"]}
    # CloudFormation knows only the attributes of the last response: a new version causes one that has it.
    assert stack.properties("Custom::HyperPodDependencies")["PropertiesVersion"] == "2"


def objects(stack: StackTemplate) -> list[Any]:
    """Return the objects, with a question mark for each value of another stack."""
    properties = stack.properties("Custom::HyperPodDependencies")
    return [typed(without_references(value)) for name, value in properties.items() if name.startswith("Object")]


def without_references(value: Any) -> Any:
    """Return a property with a question mark for each value of another stack."""
    if isinstance(value, dict) and "Fn::Join" in value:
        return "".join(part if isinstance(part, str) else "?" for part in value["Fn::Join"][1])
    if isinstance(value, dict):
        return {name: without_references(item) for name, item in value.items()}
    return [without_references(item) for item in value] if isinstance(value, list) else value


def test_a_version_that_is_newer_than_the_table_deploys_with_the_addons_that_eks_chooses(
    stacks: dict[str, StackTemplate],
) -> None:
    newer = stacks["newer"]
    assert newer.properties("AWS::EKS::Cluster")["Version"] == "1.36"
    addons = [each["Properties"] for each in newer.of_type("AWS::EKS::Addon").values()]
    assert {each["AddonName"]: each.get("AddonVersion") for each in addons} == dict.fromkeys(
        ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"]
    )


def test_an_existing_vpc_gets_subnets_for_the_control_plane(stacks: dict[str, StackTemplate]) -> None:
    subnets = [each["Properties"] for each in stacks["own-vpc"].of_type("AWS::EC2::Subnet").values()]
    assert [(each["VpcId"], each["CidrBlock"]) for each in subnets] == [
        ("vpc-00000001", "10.4.1.0/28"),
        ("vpc-00000001", "10.4.1.16/28"),
    ]


def test_administrators_keep_access_until_all_objects_and_addons_are_deleted(stack: StackTemplate) -> None:
    [admin] = [
        name for name, each in stack.of_type("AWS::EKS::AccessEntry").items() if each["Properties"]["PrincipalArn"] == ADMIN
    ]
    dependencies, _ = stack.one("Custom::HyperPodDependencies")
    for name in (dependencies, *stack.of_type("AWS::EKS::Addon")):
        assert admin in stack.waits_for(name)


def test_a_team_role_gets_its_group_and_no_policy(stack: StackTemplate) -> None:
    entries = [each["Properties"] for each in stack.of_type("AWS::EKS::AccessEntry").values()]
    [team] = [each for each in entries if each["PrincipalArn"] == RESEARCHER]
    assert team["KubernetesGroups"] == ["hyperpod-cdk:team:research"]
    assert team["AccessPolicies"] == []


def test_an_administrator_that_moves_to_a_team_loses_the_policy_and_the_reverse(stack: StackTemplate) -> None:
    """Both have the same logical ID, and CloudFormation may keep the old value of a property that is missing."""
    found = [each["Properties"] for each in stack.of_type("AWS::EKS::AccessEntry").values()]
    [admin] = [each for each in found if each["PrincipalArn"] == ADMIN]
    [researcher] = [each for each in found if each["PrincipalArn"] == RESEARCHER]
    assert (admin["KubernetesGroups"], len(admin["AccessPolicies"])) == ([], 1)
    assert (researcher["AccessPolicies"], len(researcher["KubernetesGroups"])) == ([], 1)


def test_objects_are_deleted_while_the_function_has_access(stack: StackTemplate) -> None:
    dependencies, _ = stack.one("Custom::HyperPodDependencies")
    after = stack.waits_for(dependencies)
    assert {*stack.of_type("AWS::EKS::AccessEntry"), *stack.of_type("AWS::EKS::Cluster", "AWS::Lambda::Function")} <= after
    assert set(stack.of_type("AWS::IAM::Policy", "AWS::StepFunctions::StateMachine", "AWS::Events::Rule")) <= after


def test_each_teams_namespace_has_a_claim_of_the_file_system(stack: StackTemplate) -> None:
    kinds = [(item["kind"], item["metadata"].get("namespace")) for item in objects(stack)]
    assert ("PersistentVolumeClaim", "hyperpod-ns-research") in kinds
    assert kinds.count(("PersistentVolume", None)) == 1


def test_only_a_private_api_server_puts_the_step_function_into_the_vpc(stacks: dict[str, StackTemplate]) -> None:
    def placed(name: str) -> list[str]:
        functions = stacks[name].of_type("AWS::Lambda::Function")
        return [each["Properties"]["Handler"] for each in functions.values() if "VpcConfig" in each["Properties"]]

    assert placed("same") == []
    assert placed("private") == ["kubernetes_resource.step.handler"]


def test_a_retained_cluster_keeps_what_it_uses(stacks: dict[str, StackTemplate]) -> None:
    stack = stacks["retained"]
    kept = {each["Type"] for each in stack.resources.values() if each.get("DeletionPolicy") == "RetainExceptOnCreate"}
    assert {"AWS::EKS::Cluster", "AWS::EC2::Subnet", "AWS::IAM::Role", "AWS::Logs::LogGroup"} <= kept
    assert "Custom::HyperPodDependencies" not in kept
    output = json.dumps(stack.outputs["KubernetesAfterDestroy"])
    assert "existing" in output
    assert "KubernetesAfterDestroy" not in stacks["same"].outputs


def test_an_administrator_removed_from_the_file_of_a_retained_cluster_loses_access(stacks: dict[str, StackTemplate]) -> None:
    entries = stacks["retained"].of_type("AWS::EKS::AccessEntry").values()
    [entry] = [each for each in entries if each["Properties"]["PrincipalArn"] == ADMIN]
    assert entry.get("DeletionPolicy", "Delete") == entry.get("UpdateReplacePolicy", "Delete") == "Delete"


def test_a_retained_cluster_keeps_the_software_of_addons_that_are_deleted(stacks: dict[str, StackTemplate]) -> None:
    for name, preserved in {"retained": True, "same": None}.items():
        addons = stacks[name].of_type("AWS::EKS::Addon").values()
        assert {each["Properties"].get("PreserveOnDelete") for each in addons} == {preserved}
        assert {each.get("DeletionPolicy", "Delete") for each in addons} == {"Delete"}


def test_an_existing_cluster_gets_only_access_and_objects(stacks: dict[str, StackTemplate]) -> None:
    stack = stacks["existing"]
    assert not stack.of_type("AWS::EKS::Cluster", "AWS::EKS::Addon", "AWS::EC2::Subnet")
    assert stack.properties("Custom::HyperPodDependencies")["ClusterName"] == "theirs"
    assert ADMIN in [each["Properties"]["PrincipalArn"] for each in stack.of_type("AWS::EKS::AccessEntry").values()]


def test_a_helm_chart_replaces_our_objects_and_its_warnings_annotate_the_stack(tmp_path: Path) -> None:
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    content["eks"]["admins"] = ["arn:aws:iam::123456789012:role/Admin"]
    chart = {"folder": "hyperpod", "values": {"hooks": True, "health-monitoring-agent": {"region": "us-east-1"}}}
    shutil.copytree(CHARTS / "hyperpod", tmp_path / "hyperpod")
    (tmp_path / "charted.yaml").write_text(yaml.safe_dump({**content, "eks": {**content["eks"], "helm_chart": chart}}))
    with path_with_helm():
        app = ClustersApp(context={"clusters": str(tmp_path), "nag": "false"}, outdir=str(tmp_path / "out"))
        app.synth()
    [path] = (tmp_path / "out").glob(f"assembly-charted/*{KUBERNETES}*.template.json")
    names = [f"{item['kind']} {item['metadata']['name']}" for item in objects(StackTemplate(path.read_text()))]
    assert "Operator training" in names
    assert "Namespace hyperpod-ns-research" in names
    assert "DaemonSet nvidia-device-plugin" not in names
    cluster = app.node.find_child("charted").node.find_child("Cluster")
    found = Annotations.from_stack(cdk.Stack.of(cluster)).find_warning("*", Match.any_value())
    assert [str(each.entry.data).rpartition("[ack: ")[2] for each in found] == ["helm-chart-hooks]", "helm-chart-images]"]


def test_a_file_without_a_chart_does_not_call_helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helm").write_text(f"#!/bin/sh\ntouch {tmp_path}/called\nexit 1\n")
    (tmp_path / "helm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    ClustersApp(context={"clusters": str(EXAMPLES), "cluster": "eks", "nag": "false"}, outdir=str(tmp_path / "out")).synth()
    assert not (tmp_path / "called").exists()
