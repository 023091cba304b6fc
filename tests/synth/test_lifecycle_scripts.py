"""The script bucket and the deployment of scripts."""

from pathlib import Path
from typing import Any

import pytest

from stacks.clusters_app import PROJECT
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized


@pytest.fixture
def stack(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", CLUSTER]


def joined(value: Any) -> str:
    """Return the text with a question mark for each value that is unknown at synth."""
    match value:
        case str():
            return value
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(map(joined, parts))
    return "?"


@pytest.mark.parametrize("cluster", ["same", "a-name-of-thirty-one-characters"])
def test_the_bucket_name_has_the_prefix_of_hyperpod_and_at_most_63_characters(variants: Synthesized, cluster: str) -> None:
    name = joined(variants[cluster, CLUSTER].properties("AWS::S3::Bucket")["BucketName"])
    assert name.startswith("sagemaker-")
    longest = name.replace("?", "123456789012", 1).replace("us-west-2", "ap-northeast-1")
    assert len(longest) <= 63


@pytest.mark.fault(49)
def test_unused_scripts_are_retained(stack: StackTemplate) -> None:
    """Running nodes and rollbacks refer to them."""
    deployment = stack.properties("Custom::CDKBucketDeployment")
    assert deployment["RetainOnDelete"] is True
    assert deployment["Prune"] is False


def test_the_prefix_ends_in_the_file_system(stack: StackTemplate, variants: Synthesized) -> None:
    prefix = stack.properties("Custom::CDKBucketDeployment")["DestinationBucketKeyPrefix"]["Fn::Join"][1][-1]
    assert prefix.keys() == {"Fn::GetStackOutput"}
    without = variants["no-storage", CLUSTER].properties("Custom::CDKBucketDeployment")["DestinationBucketKeyPrefix"]
    assert without.rpartition("/")[2] == "local"


def test_the_bundle_contains_lifecycle_assets_and_the_node_settings(stack: StackTemplate, shipped_folder: Path) -> None:
    deployment = stack.properties("Custom::CDKBucketDeployment")
    hashes = [key.removesuffix(".zip") for key in deployment["SourceObjectKeys"]]
    [bundle] = [
        folder for name in hashes for folder in shipped_folder.glob(f"0/asset.{name}") if (folder / "on_create.sh").exists()
    ]
    sources = PROJECT / "lifecycle_assets"
    expected = {path.relative_to(sources) for path in sources.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.relative_to(bundle) for path in bundle.rglob("*") if path.is_file()} == {*expected, Path("node_settings.json")}


def test_parameters_are_deployed_with_the_scripts(stack: StackTemplate, shipped_folder: Path) -> None:
    deployment = stack.properties("Custom::CDKBucketDeployment")
    [file] = [
        file
        for key in deployment["SourceObjectKeys"]
        for file in shipped_folder.glob(f"0/asset.{key.removesuffix('.zip')}/provisioning_parameters.json")
    ]
    markers = [marker for markers in deployment["SourceMarkers"] for marker in markers]
    assert len(markers) == 2
    assert all(marker in file.read_text() for marker in markers)
