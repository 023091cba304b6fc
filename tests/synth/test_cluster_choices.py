"""Templates by `adopt`, `removal` and `wait`."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster_files import REFERENCE
from tests.synth.synthesized import CLUSTER, NETWORK, Synthesized, synthesize
from tests.synth.variants import EXISTING_NETWORK

OURS = "Custom::HyperPodCluster"
ROLE = "arn:aws:iam::123456789012:role/theirs"

# An instance type that this release does not know.
NEWER = "ml.p9.48xlarge"
GROUPS = yaml.safe_load(REFERENCE.read_text())["instance_groups"]
NEWER_GROUPS = [{**group, "instance_type": NEWER} if group["role"] == "compute" else group for group in GROUPS]
PARTIAL_GROUPS = [{**group, "min_instance_count": 1} if group["role"] == "compute" else group for group in GROUPS]

ADOPTED: dict[str, Any] = {"adopt": True, "cluster_name": "theirs"}
CHOICES: dict[str, dict[str, Any]] = {
    "ours": {},
    "newer": {"instance_groups": NEWER_GROUPS},
    "kept": {"removal": "retain"},
    "adopted": ADOPTED,
    "partial": {
        "provisioning": "continuous",
        "slurm": {"setup": "api"},
        "wait_hours": 2,
        "instance_groups": PARTIAL_GROUPS,
    },
    "at-once": {"wait": "none", "wait_hours": 3},
    "with-other-roles": {
        "overrides": {
            "ClusterRole": f"{ROLE}-of-the-cluster",
            "RestrictedInstanceGroups": [
                {
                    "InstanceGroupName": "restricted",
                    "InstanceType": "ml.p5.48xlarge",
                    "InstanceCount": 1,
                    "ExecutionRole": f"{ROLE}-of-the-group",
                    "EnvironmentConfig": {},
                }
            ],
        },
    },
    "in-service": {"wait": "cluster", "wait_hours": 3},
}


def write(folder: Path, name: str, changes: dict[str, Any]) -> Path:
    """Write a cluster file: the reference with changes."""
    content = {**yaml.safe_load(REFERENCE.read_text()), **changes}
    if content.get("adopt"):
        content["network"] = {**content["network"], "existing": EXISTING_NETWORK}
        content["slurm"] = {**content["slurm"], "metadata_access": "all"}
        content["instance_groups"] = [{**group, "overrides": {"ExecutionRole": ROLE}} for group in content["instance_groups"]]
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clusters")
    for name, changes in CHOICES.items():
        write(folder, name, changes)
    return folder


@pytest.fixture(scope="module")
def choices(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    return synthesize(tmp_path_factory.mktemp("out"), folder)


def test_an_instance_type_newer_than_this_release_is_requested(choices: Synthesized) -> None:
    request = choices["newer", CLUSTER].properties(OURS)["Request"]
    assert NEWER in [group["InstanceType"] for group in request["InstanceGroups"]]


def test_a_cluster_that_may_lack_nodes_lists_them_when_its_last_wait_ends(choices: Synthesized) -> None:
    stack = choices["partial", CLUSTER]
    assert stack.outputs["MissingNodes"] == {"Fn::GetAtt": [stack.one("Custom::HyperPodWait")[0], "MissingNodes"]}
    assert "MissingNodes" not in choices["ours", CLUSTER].outputs


@pytest.mark.fault(47)
def test_a_retained_cluster_retains_its_dependencies(choices: Synthesized) -> None:
    stack = choices["kept", CLUSTER]
    kept = {name for name, resource in stack.resources.items() if resource.get("DeletionPolicy") == "RetainExceptOnCreate"}
    types = {stack.resources[name]["Type"] for name in kept}
    scripts = {"AWS::S3::Bucket", "AWS::S3::BucketPolicy"}  # not the log group: its fixed name would block the next deployment
    assert types == {OURS, "AWS::IAM::Role", "AWS::IAM::Policy", *scripts}
    assert not stack.of_type("Custom::S3AutoDeleteObjects")
    network = choices["kept", NETWORK].resources.values()
    assert {resource.get("DeletionPolicy") for resource in network} == {"RetainExceptOnCreate"}


def test_the_output_for_reuse_keeps_the_gateways_of_a_retained_cluster(choices: Synthesized) -> None:
    """A VPC takes no second internet gateway."""
    kept, gone = (str(choices[name, NETWORK].outputs["NetworkAfterDestroy"]) for name in ("kept", "ours"))
    assert "internet_access: existing" in kept
    assert "internet_access: create" in gone


def test_only_the_node_role_is_retained(choices: Synthesized) -> None:
    stack = choices["kept", CLUSTER]
    kept = [name for name, one in stack.of_type("AWS::IAM::Role").items() if one.get("DeletionPolicy", "").startswith("Retain")]
    assert kept == [stack.one("AWS::IAM::Role", named="NodeRole")[0]]


def test_a_cluster_is_deleted_with_its_stack_by_default(choices: Synthesized) -> None:
    assert choices["ours", CLUSTER].one(OURS)[1]["DeletionPolicy"] == "Delete"


def test_only_an_adopted_cluster_has_the_property_adopt(choices: Synthesized) -> None:
    assert choices["adopted", CLUSTER].properties(OURS)["Adopt"] is True
    assert "Adopt" not in choices["ours", CLUSTER].properties(OURS)


def test_only_a_file_that_adopts_may_tag_an_existing_cluster(choices: Synthesized) -> None:
    statements = {
        choice: {each["Sid"]: each for _, each in choices[choice, CLUSTER].statements()} for choice in ("adopted", "ours")
    }
    assert "sagemaker:TaggingAction" not in str(statements["adopted"]["AdoptCluster"])
    assert "AdoptCluster" not in statements["ours"]


@pytest.mark.parametrize("choice", ["adopted", "ours"])
def test_a_cluster_can_be_released_after_adopt_was_removed_from_the_file(choices: Synthesized, choice: str) -> None:
    """The policy is updated before the cluster, and the old one's Delete still has `Adopt`."""
    policy = choices[choice, CLUSTER].properties("AWS::IAM::Policy", named="Step")["PolicyDocument"]
    [release] = [statement for statement in policy["Statement"] if statement["Sid"] == "ReleaseAdoptedCluster"]
    assert release["Action"] == "sagemaker:DeleteTags"
    tags = [f"hyperpod-cdk:{name}" for name in ("stack-id", "logical-id", "version")]
    assert release["Condition"]["ForAllValues:StringEquals"] == {"aws:TagKeys": tags}
    assert release["Condition"]["StringEquals"].keys() == {f"aws:ResourceTag/{tag}" for tag in tags[:2]}


def test_every_role_of_the_request_may_be_passed(choices: Synthesized) -> None:
    stack = choices["with-other-roles", CLUSTER]
    policy = stack.properties("AWS::IAM::Policy", named="Step")["PolicyDocument"]
    passing = {one["Sid"]: one for one in policy["Statement"] if one["Action"] == "iam:PassRole"}
    role, _ = stack.one("AWS::IAM::Role", named="NodeRole")
    assert passing["PassExecutionRole"]["Resource"] == [f"{ROLE}-of-the-group", {"Fn::GetAtt": [role, "Arn"]}]
    assert passing["PassClusterRole"]["Resource"] == f"{ROLE}-of-the-cluster"
    assert {sid: one["Condition"]["StringEquals"]["iam:PassedToService"] for sid, one in passing.items()} == {
        "PassExecutionRole": "sagemaker.amazonaws.com",
        "PassClusterRole": "hyperpod.sagemaker.amazonaws.com",
    }


def test_waits_of_later_hours_use_the_wait_of_the_file(choices: Synthesized) -> None:
    in_service, partial = (
        choices[name, CLUSTER].properties("Custom::HyperPodWait", named="Hour2") for name in ("in-service", "partial")
    )
    assert in_service["Wait"] == "cluster"
    assert partial["MinInstanceCounts"] == {"controller-machine": 0, "login-group": 0, "compute-nodes": 1}
    assert not choices["at-once", CLUSTER].of_type("Custom::HyperPodWait")
    assert choices["at-once", CLUSTER].of_type("Custom::HyperPodDeletion")
