"""An aws-cdk-lib with other internals fails synth with one message."""

from functools import partial
from pathlib import Path
from types import ModuleType

import aws_cdk as cdk
import pytest

from constructs.hyperpod import private_bucket
from constructs.hyperpod.cdk_internals import CDK_VERSION, CdkInternalsError, find_internal
from stacks import clusters_app
from stacks.clusters_app import PROJECT, ClustersApp
from tests import cluster_files


@pytest.mark.parametrize(("module", "name"), [(private_bucket, "PROVIDER")])
def test_a_missing_construct_ends_the_app_with_one_line_that_names_the_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: ModuleType, name: str
) -> None:
    monkeypatch.setattr(module, name, "Custom::Renamed")
    context = {"clusters": str(cluster_files.CLUSTERS), "nag": "false"}
    monkeypatch.setattr(clusters_app, "ClustersApp", partial(ClustersApp, context=context, outdir=str(tmp_path)))
    with pytest.raises(SystemExit) as ended:
        clusters_app.main()
    [line] = str(ended.value.code).splitlines()
    assert "Custom::Renamed" in line
    assert f"install aws-cdk-lib {CDK_VERSION}" in line


def test_a_construct_of_another_type_is_missing() -> None:
    stack = cdk.Stack()
    cdk.CfnResource(stack, "Provider", type="AWS::CDK::Metadata")
    assert find_internal(stack, cdk.CfnResource, "Provider")
    with pytest.raises(CdkInternalsError):
        find_internal(stack, cdk.CustomResourceProviderBase, "Provider")


def test_the_known_version_is_the_required_one() -> None:
    assert f"aws-cdk-lib=={CDK_VERSION}\n" in (PROJECT / "requirements.txt").read_text()
