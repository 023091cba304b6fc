"""The packaged asset speaks the SageMaker API of the pinned boto3 with the boto3 of whatever runtime it lands on.

`make test-runtimes` runs this: each older boto3 gets a virtual environment of its own, made once from the package index.
"""

import json
import os
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

from cluster_request.service_model import OPERATIONS, UNREAD
from constructs.hyperpod.cluster.function_package import write_package
from stacks.clusters_app import PROJECT
from tests.asset.sagemaker_server import sagemaker_server
from tests.asset.samples import answer_of, request_to

pytestmark = pytest.mark.fault(31)

OLDER = ("1.34.145", "1.36.3", "1.40.4")
PROBE = Path(__file__).with_name("probe.py")


class Runtime:
    """What the asset did with one boto3: what it printed, and what it sent."""

    def __init__(self, version: str, folder: Path) -> None:
        self.version = version
        write_package(folder)
        requests = {operation: request_to(operation) for operation in OPERATIONS}
        with sagemaker_server() as (endpoint, self.sent):
            self.told = _probe(_python(version), folder, endpoint, requests)


def _python(version: str) -> Path:
    """The Python of a virtual environment that holds this boto3 and what comes with it."""
    folder = PROJECT / ".venv" / "runtimes" / f"boto3-{version}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"boto3=={version}"]
        done = subprocess.run(install, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.fail(f"boto3 {version} cannot be installed, and nothing is known of runtimes without it:\n{done.stderr}")
        (folder / "ready").touch()
    return python


def _probe(python: Path, asset: Path, endpoint: str, requests: dict[str, Any]) -> dict[str, Any]:
    environment = {
        "PATH": os.defpath,
        "HOME": str(asset),
        "LAMBDA_TASK_ROOT": str(asset),
        "PYTHONPATH": str(asset),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_DEFAULT_REGION": "us-west-2",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    command = [str(python), "-W", "ignore", str(PROBE)]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, input=json.dumps(requests))
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module", params=OLDER)
def runtime(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """The asset on a runtime with an older boto3."""
    return Runtime(request.param, tmp_path_factory.mktemp("asset"))


def test_the_handlers_load_and_their_client_has_every_operation(runtime: Runtime) -> None:
    assert runtime.told["boto3"] == runtime.version
    assert runtime.told["handlers"] == ["handler"] * 3
    assert sorted(runtime.told["operations"]) == sorted(OPERATIONS)


def test_a_request_with_every_field_of_the_pinned_model_is_sent_unchanged(runtime: Runtime) -> None:
    refusal = runtime.told["refusal of the runtime's own model"]
    assert "Unknown parameter" in refusal, "the runtime's boto3 knows every field itself: take an older one"
    assert runtime.sent["CreateCluster"] == request_to("CreateCluster")


def test_every_request_keeps_all_its_fields_and_every_reply_those_that_are_read(runtime: Runtime) -> None:
    assert runtime.sent == {operation: request_to(operation) for operation in OPERATIONS}
    assert runtime.told["answers"] == {operation: _read(answer_of(operation)) for operation in OPERATIONS}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(item) for item in value]
    return {name: _read(item) for name, item in value.items() if name not in UNREAD} if isinstance(value, dict) else value


def test_an_error_keeps_its_code_and_its_text(runtime: Runtime) -> None:
    assert runtime.told["absent"] == {"Code": "ResourceNotFound", "Message": "no such cluster"}
