"""A HyperPod cluster on EKS that `cdk destroy` leaves running keeps what its nodes and jobs use in the EKS cluster."""

from typing import Any

import pytest
import yaml

from tests.cluster_files import EXAMPLES
from tests.synth.synthesized import synthesize_contents

QUOTA = {"resources": [{"instance_type": "ml.g5.xlarge", "count": 1}]}
TEAM = {"name": "research", "role_arns": ["arn:aws:iam::123456789012:role/Researcher"], "quota": QUOTA}
CHANGES: dict[str, dict[str, Any]] = {"destroyed": {}, "retained": {"removal": "retain"}, "adopted": {"adopt": True}}
OBJECTS = ("Custom::HyperPodDependencies", "Custom::HyperPodComputeQuotas")


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Return the resources of the stacks Kubernetes, Cluster and Addons for each change of the file."""
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    content["eks"] |= {"teams": [TEAM], "autoscaling": "karpenter"}
    found = synthesize_contents(tmp_path_factory.mktemp("out"), {name: {**content, **change} for name, change in CHANGES.items()})
    stacks = ("Kubernetes", "Cluster", "Addons")
    return {name: [each for stack in stacks for each in found[name, stack].resources.values()] for name in CHANGES}


def _kept(resources: list[dict[str, Any]], *types: str) -> list[bool]:
    return [each.get("DeletionPolicy") == "RetainExceptOnCreate" for each in resources if each["Type"] in types]


@pytest.mark.parametrize("name", ["retained", "adopted"])
def test_objects_quotas_and_identities_stay(resources: dict[str, list[dict[str, Any]]], name: str) -> None:
    assert _kept(resources[name], *OBJECTS) == [True, True]
    assert all(_kept(resources[name], "AWS::EKS::PodIdentityAssociation"))
    of_pods = [each for each in resources[name] if "EKS add-on" in str(each["Properties"].get("Description"))]
    assert len(of_pods) == len(_kept(resources[name], "AWS::EKS::PodIdentityAssociation")) > 0
    assert all(_kept(of_pods, "AWS::IAM::Role"))


@pytest.mark.parametrize("name", ["retained", "adopted"])
def test_the_role_of_the_autoscaler_stays(resources: dict[str, list[dict[str, Any]]], name: str) -> None:
    [role] = [each for each in resources[name] if str(each["Properties"].get("Description")).startswith("Autoscaler of")]
    assert _kept([role], "AWS::IAM::Role") == [True]


@pytest.mark.parametrize("name", ["retained", "adopted"])
def test_the_software_of_all_addons_stays(resources: dict[str, list[dict[str, Any]]], name: str) -> None:
    addons = [each["Properties"] for each in resources[name] if each["Type"] == "AWS::EKS::Addon"]
    assert {each.get("PreserveOnDelete") for each in addons} == {True}


@pytest.mark.parametrize("name", CHANGES)
def test_access_entries_never_stay(resources: dict[str, list[dict[str, Any]]], name: str) -> None:
    assert not any(_kept(resources[name], "AWS::EKS::AccessEntry"))


def test_a_destroyed_cluster_leaves_nothing(resources: dict[str, list[dict[str, Any]]]) -> None:
    assert not any(_kept(resources["destroyed"], *OBJECTS, "AWS::EKS::PodIdentityAssociation", "AWS::IAM::Role"))
    addons = [each["Properties"] for each in resources["destroyed"] if each["Type"] == "AWS::EKS::Addon"]
    assert {each.get("PreserveOnDelete") for each in addons} == {None}
