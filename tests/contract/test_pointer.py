"""The pointer that running nodes follow: written by lambda_assets, read by lifecycle_assets on the nodes."""

import json
import shutil
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from cluster_resource.cluster_api import ClusterApi
from cluster_resource.pointer import FULL, Bundle, Pointer, Reach
from hyperpod_node.follow import bundle
from hyperpod_node.follow.pointer import Pointer as NodePointer
from tests.contract.bundle import bundle_of
from tests.contract.deployed import Deployed, as_cloudformation_sends
from tests.synth.synthesized import CLUSTER, Synthesized

BUNDLE = Bundle("sagemaker-reference-123456789012-us-west-2", "lifecycle/0123456789abcdef/fs-0123456789abcdef0", "0f" * 32)
REACHES = (
    Reach((), 0, ("i-00000000000000001",)),
    Reach(("controller",), 0),
    Reach(("controller", "login"), 0),
    Reach(("controller", "login"), 37),
    FULL,
)


@pytest.mark.parametrize(("cluster", "name"), [("reference", "provisioning_parameters.json"), ("starter", "slurm_groups.json")])
def test_nodes_calculate_the_sha256_of_the_deployment(
    cluster: str, name: str, shipped: Synthesized, shipped_folder: Path, tmp_path: Path
) -> None:
    properties = as_cloudformation_sends(Deployed(shipped, cluster).properties(CLUSTER, "Custom::HyperPodRollout"))
    shutil.copytree(bundle_of(shipped, cluster, shipped_folder), tmp_path / "bundle")
    (tmp_path / "bundle" / name).write_text(properties["Parameters"])
    assert bundle.digest(tmp_path / "bundle") == Bundle.of(properties).sha256


def test_nodes_read_what_the_deployment_writes() -> None:
    read = NodePointer.parse(Pointer(1_795_000_000, BUNDLE, Reach(("controller",), 10)).text)
    assert (read.generation, read.roles, read.compute_percent) == (1_795_000_000, ("controller",), 10)
    assert (read.bucket, read.prefix, read.sha256) == BUNDLE


def test_nodes_verify_what_the_deployment_signs() -> None:
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
    value = json.loads(Pointer(1_795_000_000, BUNDLE, FULL).text)
    with mock_aws():
        kms = boto3.client("kms", region_name="us-west-2", **keys)
        key = kms.create_key(KeySpec="RSA_3072", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["KeyId"]
        read = NodePointer.parse(ClusterApi(None, lambda _: kms).signed(key, "/hyperpod-cdk/ml/bundle", value))
    assert read.is_signed("/hyperpod-cdk/ml/bundle", read.public_key)
    assert not read.is_signed("/hyperpod-cdk/other/bundle", read.public_key)
    assert (read.generation, read.sha256, read.compute_percent) == (1_795_000_000, BUNDLE.sha256, 100)


@pytest.mark.parametrize("reach", REACHES)
def test_nodes_and_the_deployment_agree_who_follows(reach: Reach) -> None:
    read = NodePointer.parse(Pointer(1, BUNDLE, reach).text)
    for role in ("controller", "login", "compute"):
        for number in range(200):
            instance = f"i-{number:017x}"
            assert read.reaches(role, instance) == reach.includes(role, instance)
