"""The script bucket and the deployment of scripts."""

import json
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


def order(stack: StackTemplate) -> dict[str, Any]:
    """Return what the function's environment tells it."""
    text = stack.properties("AWS::Lambda::Function", named="LifecycleDeploymentFunction")["Environment"]["Variables"]["UPLOAD"]
    found: dict[str, Any] = json.loads(joined(text))
    return found


def test_the_function_gets_its_order_from_the_template_and_the_event_repeats_it(shipped: Synthesized) -> None:
    """A principal that may invoke functions chooses the event, and the zip of an asset can be replaced before its upload."""
    for cluster in shipped.clusters:
        stack = shipped[cluster, CLUSTER]
        function = stack.properties("AWS::Lambda::Function", named="LifecycleDeploymentFunction")
        assert stack.properties("Custom::LifecycleScripts")["Upload"] == function["Environment"]["Variables"]["UPLOAD"]
        assert function["Code"] == {"ZipFile": (PROJECT / "lambda_assets/script_upload/index.py").read_text()}
        assert len(json.dumps(order(stack))) < 1024, "an environment has at most 4 KiB"


def test_the_prefix_ends_in_the_file_system(stack: StackTemplate, variants: Synthesized) -> None:
    assert order(stack)["Prefix"].endswith("/?"), "known at deployment"
    assert order(variants["no-storage", CLUSTER])["Prefix"].rpartition("/")[2] == "local"


def test_the_asset_contains_lifecycle_assets_and_two_generated_files(stack: StackTemplate, shipped_folder: Path) -> None:
    [bundle] = shipped_folder.glob(f"0/asset.{order(stack)['AssetKey'].removesuffix('.zip')}")
    sources = PROJECT / "lifecycle_assets"
    expected = {path.relative_to(sources) for path in sources.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    generated = {Path("node_settings.json"), Path("provisioning_parameters.json")}
    assert {path.relative_to(bundle) for path in bundle.rglob("*") if path.is_file()} == expected | generated


def test_the_environment_has_only_the_parameters_that_the_deployment_knows(stack: StackTemplate) -> None:
    assert order(stack)["ParametersFile"] == "provisioning_parameters.json"
    assert order(stack)["Parameters"] == {"fsx_dns_name": "?", "fsx_mountname": "?"}
