"""Package the code of custom resources' functions with the SageMaker service model."""

import shutil
from functools import cache
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cluster_request.service_model import FOLDER, OPERATIONS, QUOTA_OPERATIONS, SLIM_FILE, slim_model

LAMBDA_ASSETS = Path(__file__).parents[3] / "lambda_assets"
PACKAGE = LAMBDA_ASSETS / "cluster_resource"
QUOTA_PACKAGE = "quota_resource"
ONLY_OTHERS = ("fenced_step.py", "property_values.py")
"""Modules beside the cluster's that only the steps of objects and quotas import."""


def function_package(scope: Construct, step_package: str = PACKAGE.name) -> lambda_.Code:
    """Return the code asset: the unmodified source of both packages that the functions import, and the slim service model.

    The SageMaker API that a Lambda runtime includes can be too old to know a field. The asset is written below the app's output
    folder, not into the checkout. Its hash depends only on its content.
    """
    output = cdk.Stage.of(scope)
    folder = Path(output.asset_outdir if output else "cdk.out") / step_package
    shutil.rmtree(folder, ignore_errors=True)
    write_package(folder, step_package)
    return lambda_.Code.from_asset(str(folder))


def write_package(folder: Path, step_package: str = PACKAGE.name) -> None:
    """Write the files that the functions run into the empty ``folder``."""
    for name, content in _files(step_package).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        # The zip keeps the mode, and a function does not own the files.
        file.chmod(0o644)


@cache
def _files(step_package: str) -> dict[str, bytes]:
    """Return the packages' files by path, the same for every cluster."""
    source = {
        file.relative_to(LAMBDA_ASSETS).as_posix(): file.read_bytes()
        for package in sorted({PACKAGE.name, step_package})
        for file in sorted((LAMBDA_ASSETS / package).rglob("*.py"))
        if step_package != PACKAGE.name or file.name not in ONLY_OTHERS
    }
    model = slim_model(QUOTA_OPERATIONS if step_package == QUOTA_PACKAGE else OPERATIONS)
    return {**source, f"{PACKAGE.name}/service_model/{FOLDER}/{SLIM_FILE}": model}
