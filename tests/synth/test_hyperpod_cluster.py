"""The custom resource of the cluster."""

from pathlib import Path

import pytest

from tests import cluster_files
from tests.synth.synthesized import CLUSTER, STACKS, StackTemplate, Synthesized, synthesize


@pytest.fixture
def stack(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", CLUSTER]


def test_the_properties_are_those_that_the_functions_read(stack: StackTemplate) -> None:
    """If you change this list, lambda_assets must read both versions."""
    properties = stack.properties("Custom::HyperPodCluster")
    assert properties.keys() == {
        "AvailabilityZoneId",
        "ControllerGroup",
        "NamePrefix",
        "NetworkIdentity",
        "PropertiesVersion",
        "Request",
        "Scripts",
        "ServiceTimeout",
        "ServiceToken",
        "Wait",
        "WaitHours",
    }
    assert properties["PropertiesVersion"] == "2"
    assert properties["NamePrefix"] == "reference"
    assert properties["ControllerGroup"] == "controller-machine"
    assert properties["AvailabilityZoneId"] == "usw2-az4"
    assert properties["Wait"] == "nodes"
    assert properties["WaitHours"] == 1
    assert str(properties["ServiceTimeout"]) == "3600"


def test_a_fixed_name_is_a_property(variants: Synthesized) -> None:
    assert variants["named", CLUSTER].properties("Custom::HyperPodCluster")["ClusterName"] == "ml-cluster"


def test_a_count_changes_its_field_and_nothing_else(shipped: Synthesized, tmp_path: Path) -> None:
    """So `cdk diff` and pull requests show only that field."""
    text = cluster_files.REFERENCE.read_text()
    assert text.count("instance_count: 4") == 1
    (tmp_path / "reference.yaml").write_text(text.replace("instance_count: 4", "instance_count: 6"))
    changed = synthesize(tmp_path / "out", tmp_path)
    differences = [
        (old.strip(" ,"), new.strip(" ,"))
        for stack in STACKS
        for old, new in zip(
            shipped["reference", stack].text.splitlines(), changed["reference", stack].text.splitlines(), strict=True
        )
        if old != new
    ]
    assert differences == [('"InstanceCount": 4', '"InstanceCount": 6')]


def test_tags_of_the_file_are_on_the_cluster_and_other_resources(variants: Synthesized) -> None:
    stack = variants["tagged", CLUSTER]
    expected = {"hyperpod-cdk:cluster": "tagged", "team": "research"}
    request = stack.properties("Custom::HyperPodCluster")["Request"]
    assert {tag["Key"]: tag["Value"] for tag in request["Tags"]} == expected
    role = stack.properties("AWS::IAM::Role", named="NodeRole")
    assert {tag["Key"]: tag["Value"] for tag in role["Tags"]} == expected


@pytest.mark.fault(46)
def test_three_hours_need_two_waits_and_a_deletion_resource(variants: Synthesized) -> None:
    stack = variants["three-hours", CLUSTER]
    cluster, _ = stack.one("Custom::HyperPodCluster")
    assert stack.properties("Custom::HyperPodCluster")["WaitHours"] == 3
    waits = [resource["Properties"] for resource in stack.of_type("Custom::HyperPodWait").values()]
    assert [(wait["Hour"], wait["Last"]) for wait in waits] == [(2, False), (3, True)]
    assert {wait["ClusterName"]["Ref"] for wait in waits} == {cluster}
    assert stack.properties("Custom::HyperPodDeletion")["ClusterLogicalId"] == cluster


def test_one_function_serves_all_custom_resources_of_the_cluster(variants: Synthesized) -> None:
    stack = variants["three-hours", CLUSTER]
    entry, _ = stack.one("AWS::Lambda::Function", named="Entry")
    ours = stack.of_type("Custom::HyperPodCluster", "Custom::HyperPodWait", "Custom::HyperPodDeletion")
    assert len(ours) == 4
    for resource in ours.values():
        assert resource["Properties"]["ServiceToken"] == {"Fn::GetAtt": [entry, "Arn"]}
        assert str(resource["Properties"]["ServiceTimeout"]) == "3600"


@pytest.mark.parametrize(
    ("type_name", "named", "logical_id"),
    [
        ("Custom::HyperPodCluster", "", "ClusterEB0386A7"),
        ("AWS::Lambda::Function", "Entry", "ClusterProviderEntry89D3202E"),
    ],
)
@pytest.mark.fault(45)
def test_logical_ids_are_frozen(stack_of_each_mode: StackTemplate, type_name: str, named: str, logical_id: str) -> None:
    """CloudFormation refuses another service token ("Modifying service token is not allowed"), and another logical id of the
    cluster is another cluster."""
    assert stack_of_each_mode.one(type_name, named=named)[0] == logical_id


@pytest.mark.fault(20)
def test_only_a_file_with_recreate_has_its_cluster_recreated(variants: Synthesized) -> None:
    assert variants["recreated", CLUSTER].properties("Custom::HyperPodCluster")["Recreate"] is True
    assert "Recreate" not in variants["same", CLUSTER].properties("Custom::HyperPodCluster")
