"""Resources that must exist until the cluster is deleted.

HyperPod uses the node role to remove network interfaces: without the role, its policies or the network, a cluster stays in
Deleting. And the provider must exist until it has responded.
"""

import json
from pathlib import Path

import pytest

from tests.synth.synthesized import CLUSTER, STACKS, StackTemplate, Synthesized

PROVIDER = {
    "AWS::CloudWatch::Alarm",
    "AWS::KMS::Key",
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
def stack(stack_of_each_mode: StackTemplate) -> StackTemplate:
    return stack_of_each_mode


def below(stack: StackTemplate, part: str) -> set[str]:
    """Return the logical IDs of all resources below a construct."""
    return {
        logical_id
        for logical_id, resource in stack.resources.items()
        if f"/{part}/" in resource.get("Metadata", {}).get("aws:cdk:path", "")
    }


@pytest.mark.fault(48)
def test_the_cluster_depends_on_all_of_its_provider(stack: StackTemplate) -> None:
    _, resource = stack.one("Custom::HyperPodCluster")
    provider = below(stack, "Provider")
    assert {stack.resources[name]["Type"] for name in provider} == PROVIDER
    assert provider <= set(resource["DependsOn"])


@pytest.mark.fault(48)
def test_the_cluster_depends_on_the_node_role_and_its_policies(stack: StackTemplate) -> None:
    cluster, resource = stack.one("Custom::HyperPodCluster")
    role = below(stack, "NodeRole")
    assert role
    assert role <= set(resource["DependsOn"])
    assert not [name for name in stack.of_type("AWS::IAM::Policy") if name not in stack.waits_for(cluster)]


@pytest.mark.fault(49)
def test_the_cluster_depends_on_its_scripts(stack: StackTemplate) -> None:
    _, resource = stack.one("Custom::HyperPodCluster")
    deployment, _ = stack.one("Custom::LifecycleScripts")
    policy, _ = stack.one("AWS::S3::BucketPolicy")
    assert {deployment, policy} <= set(resource["DependsOn"])


@pytest.mark.fault(49)
def test_scripts_are_deleted_after_the_cluster(stack: StackTemplate) -> None:
    _, resource = stack.one("Custom::HyperPodCluster")
    assert set(stack.of_type("Custom::S3AutoDeleteObjects", "AWS::S3::Bucket")) <= set(resource["DependsOn"])


def test_the_cluster_depends_on_everything_in_its_stack(stack: StackTemplate) -> None:
    cluster, _ = stack.one("Custom::HyperPodCluster")
    assert stack.waits_for(cluster) == stack.resources.keys() - {cluster, *stack.of_type("Custom::HyperPodRollout")}


def test_running_nodes_follow_after_the_cluster_and_its_waits(variants: Synthesized) -> None:
    """New nodes get the new scripts from the cluster's request, so it must be accepted first."""
    stack = variants["three-hours", CLUSTER]
    rollout, _ = stack.one("Custom::HyperPodRollout")
    assert stack.waits_for(rollout) == stack.resources.keys() - {rollout}


@pytest.mark.fault(48)
def test_network_and_storage_are_deployed_before_the_cluster(shipped: Synthesized, shipped_folder: Path) -> None:
    """Routes, rules and endpoints are in a separate stack, deployed first and destroyed last."""
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


def test_the_file_system_depends_on_nothing_that_is_imported(variants: Synthesized) -> None:
    """Security group rules are in another stack, or imported."""
    for cluster in ("existing-network", "internet-access"):
        storage = variants[cluster, "Storage"]
        file_system, _ = storage.one("AWS::FSx::FileSystem")
        assert storage.waits_for(file_system) == set()


@pytest.mark.fault(48)
def test_the_deletion_resource_is_deleted_after_the_cluster_and_before_its_dependencies(variants: Synthesized) -> None:
    """Its Delete waits until the cluster is deleted, so it needs role, scripts and provider."""
    stack = variants["three-hours", CLUSTER]
    cluster, resource = stack.one("Custom::HyperPodCluster")
    deletion, _ = stack.one("Custom::HyperPodDeletion")
    waits = set(stack.of_type("Custom::HyperPodWait", "Custom::HyperPodRollout"))
    assert deletion in resource["DependsOn"]
    assert stack.waits_for(deletion) == stack.resources.keys() - {cluster, deletion} - waits


@pytest.mark.fault(46)
def test_waits_depend_on_the_cluster_and_on_each_other(variants: Synthesized) -> None:
    stack = variants["three-hours", CLUSTER]
    cluster, _ = stack.one("Custom::HyperPodCluster")
    second, third = sorted(stack.of_type("Custom::HyperPodWait"))
    assert "Hour2" in second
    assert "Hour3" in third
    assert cluster in stack.waits_for(second)
    assert second in stack.waits_for(third)
