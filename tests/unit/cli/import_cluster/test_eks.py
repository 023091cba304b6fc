"""Import of clusters that EKS orchestrates."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.import_cluster import Choices, Imported, Keep, Original, imported, read_original
from cli.import_cluster.deployed_values import placeholder_problems
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError
from tests.unit.cli.import_cluster.originals import ROLE, SOURCE, Json, changed, valid

ARN = "arn:aws:eks:us-east-2:111122223333:cluster/ml"
# The request of https://aws.amazon.com/blogs/machine-learning/introducing-amazon-eks-support-in-amazon-sagemaker-hyperpod/
REQUEST: Json = {
    "ClusterName": "ml-cluster",
    "Orchestrator": {"Eks": {"ClusterArn": ARN}},
    "InstanceGroups": [
        {
            "InstanceGroupName": "worker-group-1",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 4,
            "LifeCycleConfig": {"SourceS3Uri": SOURCE, "OnCreate": "on_create.sh"},
            "ExecutionRole": ROLE,
            "ThreadsPerCore": 1,
            "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
        }
    ],
    "VpcConfig": {"SecurityGroupIds": ["sg-0a1b2c3d4e5f67890"], "Subnets": ["subnet-01a2bc3456d78ef90"]},
    "NodeRecovery": "Automatic",
}
KUBERNETES = {"Labels": {"pool": "a"}, "Taints": [{"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}]}
WORKERS: Json = REQUEST["InstanceGroups"][0]
TAINTED = [
    {**{name: each for name, each in WORKERS.items() if name != "OnStartDeepHealthChecks"}, "KubernetesConfig": KUBERNETES}
]
"""AWS allows no taints in a group with deep health checks."""
KEPT = Choices(keep=Keep.EVERYTHING, zone="use2-az2", vpc_id="vpc-0123456789abcdef0")


def import_of(request: Json, choices: Choices | None = None) -> Imported:
    """What an import returns."""
    made = imported(Original(request, None, "create_cluster.json"), choices or Choices())
    assert made.problems == ()
    assert made.config is not None
    return made


def requested(made: Imported, arn: str) -> Any:
    """The request of the file with this EKS cluster."""
    assert made.config is not None
    values = replace(RequestValues.samples(made.config), eks_cluster_arn=arn)
    return {"ClusterName": made.config.cluster_name, **cluster_request(made.config, values=values)}


def test_the_request_of_aws_is_the_same_if_everything_is_kept() -> None:
    made = import_of(REQUEST, KEPT)
    assert made.config is not None
    assert made.config.eks is not None
    assert made.config.eks.existing is not None
    assert made.config.eks.existing.name == "ml"
    assert requested(made, ARN) == REQUEST


def test_a_new_eks_cluster_has_the_groups_of_the_original() -> None:
    made = import_of(REQUEST)
    config = valid(made)
    assert config.creates_eks_cluster
    [group] = config.instance_groups
    assert (group.name, group.role, group.instance_count, len(group.deep_health_checks)) == ("worker-group-1", None, 4, 2)
    assert f"A new EKS cluster, instead of {ARN}." in made.text
    assert "slurm" not in made.text.lower()


def pasted(tmp_path: Path, form: str) -> Original:
    """The request as AWS's blog prints it, with placeholders of this form."""
    request = changed(REQUEST, "Orchestrator", "Eks", "ClusterArn", form.format("EKS_CLUSTER_ARN"))
    group = ("InstanceGroups", 0)
    request = changed(request, *group, "ExecutionRole", form.format("EXECUTION_ROLE"))
    request = changed(request, *group, "LifeCycleConfig", "SourceS3Uri", f"s3://{form.format('BUCKET_NAME')}")
    network = {"SecurityGroupIds": [form.format("SECURITY_GROUP")], "Subnets": [form.format("SUBNET_ID")]}
    file = tmp_path / "pasted.json"
    file.write_text(json.dumps(changed(request, "VpcConfig", network)))
    return read_original(file)


FORMS = ("${{{}}}", "${}", "<{}>")


@pytest.mark.parametrize("form", FORMS)
def test_placeholders_of_what_the_deployment_creates_are_accepted(tmp_path: Path, form: str) -> None:
    made = imported(pasted(tmp_path, form), Choices(zone="use2-az2"))
    config = valid(made)
    assert config.creates_eks_cluster
    assert f"A new EKS cluster, instead of {form.format('EKS_CLUSTER_ARN')}." in made.text
    values = [line for line in made.text.splitlines() if not line.startswith("#")]
    assert not [line for line in values if form.format("EKS_CLUSTER_ARN") in line or "BUCKET_NAME" in line]


@pytest.mark.parametrize("form", FORMS)
def test_placeholders_that_would_be_kept_are_listed_together(tmp_path: Path, form: str) -> None:
    with pytest.raises(ConfigError) as error:
        imported(pasted(tmp_path, form), KEPT)
    [problems] = error.value.problems.values()
    group = ("InstanceGroups", 0)
    assert {problem.path for problem in problems} == {
        ("Orchestrator", "Eks", "ClusterArn"),
        (*group, "ExecutionRole"),
        (*group, "LifeCycleConfig", "SourceS3Uri"),
        ("VpcConfig", "SecurityGroupIds", 0),
        ("VpcConfig", "Subnets", 0),
    }
    assert all(problem.place and problem.fix for problem in problems)
    bucket = form.format("BUCKET_NAME")
    assert (f"{bucket} is a placeholder", "replace it with its value") in [(problem.message, problem.fix) for problem in problems]


def test_a_dollar_sign_inside_a_value_is_no_placeholder() -> None:
    assert [*placeholder_problems({"Name": "slurm$DB", "Uri": "s3://scripts/$latest/"})] == []


@pytest.mark.parametrize("choices", [Choices(), KEPT])
def test_labels_taints_and_the_autoscaler_are_fields(choices: Choices) -> None:
    request = changed(REQUEST, "InstanceGroups", TAINTED)
    request |= {"NodeProvisioningMode": "Continuous", "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}
    made = import_of(request, choices)
    assert made.config is not None
    [group] = made.config.instance_groups
    assert (group.labels, [taint.key for taint in group.taints]) == ({"pool": "a"}, ["gpu"])
    assert made.config.eks is not None
    assert made.config.eks.autoscaling == "karpenter"
    assert made.config.overrides == {}
    assert requested(made, ARN)["InstanceGroups"][0]["KubernetesConfig"] == KUBERNETES
