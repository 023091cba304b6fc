"""The role of HyperPod's autoscaler."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster_files import EXAMPLES
from tests.synth.synthesized import StackTemplate, synthesize


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> StackTemplate:
    """Return the cluster stack of eks.yaml with Karpenter."""
    folder = tmp_path_factory.mktemp("clusters")
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    content["eks"]["autoscaling"] = "karpenter"
    (folder / "scaled.yaml").write_text(yaml.safe_dump(content))
    return synthesize(Path(tmp_path_factory.mktemp("out")), folder)["scaled", "Cluster"]


def autoscaler(cluster: StackTemplate) -> tuple[str, dict[str, Any]]:
    """Return the role's logical ID and properties."""
    found = {name: each["Properties"] for name, each in cluster.of_type("AWS::IAM::Role").items() if "AutoscalerRole" in name}
    assert len(found) == 1
    return next(iter(found.items()))


def test_the_request_names_the_role(cluster: StackTemplate) -> None:
    request = cluster.properties("Custom::HyperPodCluster")["Request"]
    assert request["ClusterRole"] == {"Fn::GetAtt": [autoscaler(cluster)[0], "Arn"]}
    assert request["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}


def test_hyperpod_assumes_the_role_and_scales_only_this_files_cluster(cluster: StackTemplate) -> None:
    _, role = autoscaler(cluster)
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "hyperpod.sagemaker.amazonaws.com"}
    # AWS documents none: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html
    assert "Condition" not in trust
    assert "'aws:ResourceTag/hyperpod-cdk:cluster': 'scaled'" in str(role["Policies"])


def test_the_deployment_may_pass_the_role_to_hyperpod_only(cluster: StackTemplate) -> None:
    policies = [each["Properties"]["PolicyDocument"] for each in cluster.of_type("AWS::IAM::Policy").values()]
    statements = [each for policy in policies for each in policy["Statement"] if each.get("Sid") == "PassClusterRole"]
    assert [each["Condition"] for each in statements] == [
        {"StringEquals": {"iam:PassedToService": "hyperpod.sagemaker.amazonaws.com"}}
    ]
    assert statements[0]["Resource"] == {"Fn::GetAtt": [autoscaler(cluster)[0], "Arn"]}


def test_the_cluster_is_deleted_before_the_role(cluster: StackTemplate) -> None:
    (resource,) = cluster.of_type("Custom::HyperPodCluster").values()
    assert autoscaler(cluster)[0] in resource["DependsOn"]
