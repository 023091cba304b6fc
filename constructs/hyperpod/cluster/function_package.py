"""Package the code of the custom resource's functions with the SageMaker service model."""

import shutil
from functools import cache
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cluster_request.service_model import FOLDER, SLIM_FILE, slim_model

PACKAGE = Path(__file__).parents[3] / "lambda_assets" / "cluster_resource"


def function_package(scope: Construct) -> lambda_.Code:
    """Return the code asset: the unmodified source and the slim service model.

    The SageMaker API that a Lambda runtime includes can be too old to know a field. The asset is written below the app's output
    folder, not into the checkout. Its hash depends only on its content.
    """
    output = cdk.Stage.of(scope)
    folder = Path(output.asset_outdir if output else "cdk.out") / "cluster_resource"
    shutil.rmtree(folder, ignore_errors=True)
    write_package(folder)
    return lambda_.Code.from_asset(str(folder))


def write_package(folder: Path) -> None:
    """Write the files that the functions run into the empty ``folder``."""
    for name, content in _files().items():
        file = folder / PACKAGE.name / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        # The zip keeps the mode, and a function does not own the files.
        file.chmod(0o644)


@cache
def _files() -> dict[str, bytes]:
    """Return the package's files by path, the same for every cluster."""
    source = {file.relative_to(PACKAGE).as_posix(): file.read_bytes() for file in sorted(PACKAGE.rglob("*.py"))}
    return {**source, f"service_model/{FOLDER}/{SLIM_FILE}": slim_model()}
