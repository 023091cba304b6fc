"""The code of the custom resource's functions, with the SageMaker API that it needs."""

import shutil
from functools import cache
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cluster_request.service_model import FOLDER, SLIM_FILE, slim_model
from constructs.hyperpod.cluster.compact_source import compact_source

PACKAGE = Path(__file__).parents[3] / "lambda_assets" / "cluster_resource"


def function_package(scope: Construct) -> lambda_.Code:
    """The package with a slim service model in it: what a Lambda runtime brings can be too old to know a field.

    It is put together below the app's own output, so that nothing is written into the checkout; the asset's hash is that of
    its content, and so the same in every checkout.
    """
    output = cdk.Stage.of(scope)
    folder = Path(output.asset_outdir if output else "cdk.out") / "cluster_resource"
    shutil.rmtree(folder, ignore_errors=True)
    write_package(folder)
    return lambda_.Code.from_asset(str(folder))


def write_package(folder: Path) -> None:
    """Write what the functions run into ``folder``, which holds nothing yet."""
    for name, content in _files().items():
        file = folder / PACKAGE.name / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        # The zip carries it, and a function is not the files' owner.
        file.chmod(0o644)


@cache
def _files() -> dict[str, bytes]:
    """The package's files: every cluster file's stacks have the same."""
    sources = {file.relative_to(PACKAGE).as_posix(): file.read_text("utf-8") for file in sorted(PACKAGE.rglob("*.py"))}
    code = {name: compact_source(source).encode() for name, source in sources.items()}
    return {**code, f"service_model/{FOLDER}/{SLIM_FILE}": slim_model()}
