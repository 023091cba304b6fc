"""The code of the custom resource's functions, with the SageMaker API that it needs."""

import shutil
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from config.service_model import FILE, FOLDER, slim_model

PACKAGE = Path(__file__).parents[2] / "lambda_assets" / "cluster_resource"


def function_package(scope: Construct) -> lambda_.Code:
    """The package with a slim service model in it: what a Lambda runtime brings can be too old to know a field.

    It is put together below the app's own output, so that nothing is written into the checkout; the asset's hash is that of
    its content, and so the same in every checkout.
    """
    output = cdk.Stage.of(scope)
    folder = Path(output.asset_outdir if output else "cdk.out") / "cluster_resource"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    model = folder / PACKAGE.name / "service_model" / FOLDER / FILE
    model.parent.mkdir(parents=True)
    model.write_bytes(slim_model())
    return lambda_.Code.from_asset(str(folder))
