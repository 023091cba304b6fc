"""The requests of the shipped files are the reference requests of the field; every difference has its name here."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster_request.request import RequestValues, cluster_request
from tests import cluster_files
from validation.load import load_cluster

ROLE, SECURITY_GROUP, SUBNET, SCRIPTS = "ROLE", "SG", "SUBNET", "s3://BUCKET/src"

# The differences: the values of these four, which are known only after a deployment and which the reference writes as shell
# variables; and ClusterName, which the custom resource sends, as it generates it where the file fixes none. Tags: none.
VALUES = RequestValues(execution_role_arn=ROLE, source_s3_uri=SCRIPTS, subnet_ids=[SUBNET], security_group_ids=[SECURITY_GROUP])


def group(name: str, instance_type: str, count: int) -> dict[str, Any]:
    """An instance group as the field writes it."""
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "LifeCycleConfig": {"SourceS3Uri": SCRIPTS, "OnCreate": "on_create.sh"},
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
    }


VPC = {"SecurityGroupIds": [SECURITY_GROUP], "Subnets": [SUBNET]}

REFERENCE = {
    "InstanceGroups": [
        group("controller-machine", "ml.c5.xlarge", 1),
        group("login-group", "ml.m5.xlarge", 1),
        group("compute-nodes", "ml.trn1.32xlarge", 4),
    ],
    "VpcConfig": VPC,
}
FSDP_G5 = {
    "InstanceGroups": [group("controller-machine", "ml.c5.xlarge", 1), group("worker-group-1", "ml.g5.48xlarge", 4)],
    "VpcConfig": VPC,
}

CASES = [(cluster_files.REFERENCE, REFERENCE), (cluster_files.EXAMPLES / "fsdp-g5.yaml", FSDP_G5)]


def flat(value: Any, path: str = "") -> dict[str, object]:
    """Every leaf of a request by its path."""
    if isinstance(value, dict):
        return {leaf: item for key, below in value.items() for leaf, item in flat(below, f"{path}.{key}").items()}
    if isinstance(value, list):
        return {leaf: item for index, below in enumerate(value) for leaf, item in flat(below, f"{path}[{index}]").items()}
    return {path: value}


# The EKS example's differences: it has a group for add-ons, `system`, which the reference runs on nodes outside the file; and
# scripts have a prefix in the bucket. The reference's name of the HyperPod cluster is not ours, as above.
EKS_ARN = "EKS_CLUSTER_ARN"
EKS_P5 = {
    "Orchestrator": {"Eks": {"ClusterArn": EKS_ARN}},
    "InstanceGroups": [
        {
            **group("worker-group-1", "ml.p5.48xlarge", 4),
            "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
        }
    ],
    "VpcConfig": VPC,
    "NodeRecovery": "Automatic",
}


def test_the_request_of_the_eks_example_is_the_reference_request_beside_its_group_for_addons() -> None:
    config = load_cluster(cluster_files.EXAMPLES / "eks-p5.yaml")
    request = cluster_request(config, values=replace(VALUES, eks_cluster_arn=EKS_ARN))
    addons, *others = request["InstanceGroups"]
    assert addons["InstanceGroupName"] == "system"
    assert flat({**request, "InstanceGroups": others}) == flat(EKS_P5)


@pytest.mark.parametrize(("file", "reference"), CASES, ids=["reference", "fsdp-g5"])
def test_the_request_is_the_reference_request_field_by_field(file: Path, reference: dict[str, Any]) -> None:
    assert flat(cluster_request(load_cluster(file), values=VALUES)) == flat(reference)


@pytest.mark.parametrize(("file", "reference"), CASES, ids=["reference", "fsdp-g5"])
def test_the_values_of_a_deployment_are_only_in_the_four_named_places(file: Path, reference: dict[str, Any]) -> None:
    config = load_cluster(file)
    ours, samples = (flat(cluster_request(config, values=values)) for values in (VALUES, RequestValues.samples(config)))
    differing = {path.rpartition("].")[2].lstrip(".").split("[")[0] for path in ours if ours[path] != samples[path]}
    assert differing == {"LifeCycleConfig.SourceS3Uri", "ExecutionRole", "VpcConfig.SecurityGroupIds", "VpcConfig.Subnets"}


def test_the_references_place_and_file_system_are_those_of_the_field() -> None:
    config = load_cluster(cluster_files.REFERENCE)
    assert (config.region, config.network.availability_zone_id) == ("us-west-2", "usw2-az4")
    lustre = config.storage.lustre
    assert lustre is not None
    assert (lustre.deployment_type, lustre.version, lustre.storage_capacity_gib) == ("PERSISTENT_2", "2.15", 1200)
    assert (lustre.throughput_mbps_per_tib, lustre.compression) == (250, "LZ4")
    [association] = config.storage.data_repository_associations
    assert (association.path, association.imported_file_chunk_size_mib) == ("/data", 1024)
    assert association.import_metadata_on_create
    assert association.auto_import == association.auto_export == ("NEW", "CHANGED", "DELETED")
    assert [group.partition for group in config.instance_groups] == [None, None, "dev"]


def test_the_examples_place_and_partition_are_those_of_the_field() -> None:
    config = load_cluster(cluster_files.EXAMPLES / "fsdp-g5.yaml")
    assert (config.region, config.network.availability_zone_id) == ("us-east-1", "use1-az4")
    assert [group.partition for group in config.instance_groups] == [None, "ml.g5.48xlarge"]
