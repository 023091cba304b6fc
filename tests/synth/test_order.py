"""What is there before the cluster, and stays until the cluster is gone.

HyperPod removes the nodes' interfaces in the nodes' role: without the role, its policies or the network, a cluster stays in
Deleting. And what answers CloudFormation for the cluster must not be deleted while it does.
"""

import json
from pathlib import Path

import pytest

from tests.synth.synthesized import CLUSTER, STACKS, StackTemplate, Synthesized

MACHINERY = {
    "AWS::CloudWatch::Alarm",
    "AWS::Lambda::Function",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Permission",
    "AWS::Events::Rule",
    "AWS::StepFunctions::StateMachine",
    "AWS::Logs::LogGroup",
    "AWS::Logs::MetricFilter",
    "AWS::IAM::Role",
    "AWS::IAM::Policy",
}


@pytest.fixture
def stack(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", CLUSTER]


def below(stack: StackTemplate, part: str) -> set[str]:
    """The logical ids of what is defined below a construct of the stack."""
    return {
        logical_id
        for logical_id, resource in stack.resources.items()
        if f"/{part}/" in resource.get("Metadata", {}).get("aws:cdk:path", "")
    }


@pytest.mark.fault(48)
def test_the_cluster_waits_for_all_of_its_machinery(stack: StackTemplate) -> None:
    _, resource = stack.one("Custom::HyperPodCluster")
    machinery = below(stack, "Provider")
    assert {stack.resources[name]["Type"] for name in machinery} == MACHINERY
    assert machinery <= set(resource["DependsOn"])


@pytest.mark.fault(48)
def test_the_cluster_waits_for_the_nodes_role_and_each_of_its_policies(stack: StackTemplate) -> None:
    cluster, resource = stack.one("Custom::HyperPodCluster")
    role = below(stack, "NodeRole")
    assert role
    assert role <= set(resource["DependsOn"])
    assert not [name for name in stack.of_type("AWS::IAM::Policy") if name not in stack.waits_for(cluster)]


@pytest.mark.fault(49)
def test_the_cluster_waits_for_its_scripts(stack: StackTemplate) -> None:
    _, resource = stack.one("Custom::HyperPodCluster")
    deployment, _ = stack.one("Custom::CDKBucketDeployment")
    policy, _ = stack.one("AWS::S3::BucketPolicy")
    assert {deployment, policy} <= set(resource["DependsOn"])


@pytest.mark.fault(49)
def test_scripts_are_deleted_after_the_cluster(stack: StackTemplate) -> None:
    _, resource = stack.one("Custom::HyperPodCluster")
    assert set(stack.of_type("Custom::S3AutoDeleteObjects", "AWS::S3::Bucket")) <= set(resource["DependsOn"])


def test_the_cluster_waits_for_everything_in_its_stack(stack: StackTemplate) -> None:
    cluster, _ = stack.one("Custom::HyperPodCluster")
    assert stack.waits_for(cluster) == stack.resources.keys() - {cluster}


@pytest.mark.fault(48)
def test_the_network_and_the_storage_are_there_before_the_cluster(shipped: Synthesized, shipped_folder: Path) -> None:
    """Routes, rules and endpoints are in a stack of their own, which is deployed before and destroyed after."""
    manifests = [json.loads(file.read_text()) for file in shipped_folder.glob("*/assembly-reference/manifest.json")]
    [artifacts] = [manifest["artifacts"] for manifest in manifests]
    dependencies = {
        artifact["displayName"].rpartition("/")[2]: set(artifact.get("dependencies", ()))
        for artifact in artifacts.values()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    ids = {
        artifact["displayName"].rpartition("/")[2]: artifact_id
        for artifact_id, artifact in artifacts.items()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    assert set(ids) == set(STACKS)
    assert ids["Network"] in dependencies["Storage"]
    assert ids["Storage"] in dependencies["Cluster"]


def test_the_file_system_waits_for_the_rules_of_its_group_with_imported_parts_too(variants: Synthesized) -> None:
    """With everything in one stage, the rules are in the stack before; nothing imported is waited for."""
    for cluster in ("existing-network", "internet-access"):
        storage = variants[cluster, "Storage"]
        file_system, _ = storage.one("AWS::FSx::FileSystem")
        assert storage.waits_for(file_system) == set()


@pytest.mark.fault(48)
def test_the_tail_is_deleted_after_the_cluster_and_before_what_the_cluster_needs(variants: Synthesized) -> None:
    """In its Delete it waits for a cluster that is still going, and so needs its role, scripts and machinery."""
    stack = variants["three-hours", CLUSTER]
    cluster, resource = stack.one("Custom::HyperPodCluster")
    tail, _ = stack.one("Custom::HyperPodDeletion")
    waits = set(stack.of_type("Custom::HyperPodWait"))
    assert tail in resource["DependsOn"]
    assert stack.waits_for(tail) == stack.resources.keys() - {cluster, tail} - waits


@pytest.mark.fault(46)
def test_waits_follow_the_cluster_one_after_the_other(variants: Synthesized) -> None:
    stack = variants["three-hours", CLUSTER]
    cluster, _ = stack.one("Custom::HyperPodCluster")
    second, third = sorted(stack.of_type("Custom::HyperPodWait"))
    assert "Hour2" in second
    assert "Hour3" in third
    assert cluster in stack.waits_for(second)
    assert second in stack.waits_for(third)
