"""The client uses this release's service model from the asset, with any version of botocore."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster_request.service_model import OPERATIONS as SYNTHESIZED
from cluster_request.service_model import slim_model
from cluster_resource.aws_api import MODEL_DIR, OPERATIONS, reports_client, sagemaker_client
from cluster_resource.cluster_api import ClusterApi

VERSION = "2017-07-24"


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")


def write(folder: Path, model: bytes) -> Path:
    place = folder / "sagemaker" / VERSION
    place.mkdir(parents=True)
    (place / "service-2.json").write_bytes(model)
    return folder


@pytest.fixture
def slim(tmp_path: Path) -> Path:
    return write(tmp_path / "model", slim_model(OPERATIONS))


@pytest.mark.fault(31)
def test_the_model_in_the_asset_is_used(slim: Path) -> None:
    client = sagemaker_client(slim)
    assert set(client.meta.service_model.operation_names) == set(OPERATIONS)
    assert client.meta.endpoint_url == "https://api.sagemaker.us-west-2.amazonaws.com"


@pytest.mark.fault(31)
def test_the_model_in_the_asset_knows_the_newest_fields(slim: Path) -> None:
    shape = ClusterApi(sagemaker_client(slim)).request_shape
    assert "Slurm" in shape.members["Orchestrator"].members


@pytest.mark.fault(31)
def test_a_model_that_lacks_an_operation_raises_an_error_at_the_start(tmp_path: Path, slim: Path) -> None:
    model = json.loads((slim / "sagemaker" / VERSION / "service-2.json").read_bytes())
    del model["operations"]["UpdateCluster"]
    old = write(tmp_path / "old", json.dumps(model).encode())
    with pytest.raises(RuntimeError, match="lacks UpdateCluster"):
        sagemaker_client(old)


@pytest.mark.fault(31)
def test_a_function_without_its_model_raises_an_error_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime's own may be too old to know a field, and would say that the field is wrong."""
    monkeypatch.setenv("LAMBDA_TASK_ROOT", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"service-2\.json is missing; rebuild the asset"):
        sagemaker_client(tmp_path)


def test_the_model_from_synth_has_exactly_the_operations_of_the_code() -> None:
    assert set(OPERATIONS) == set(SYNTHESIZED)


def test_without_a_model_in_the_asset_the_installed_one_is_used() -> None:
    assert not MODEL_DIR.exists()
    names: Callable[[], Any] = sagemaker_client
    assert set(OPERATIONS) < set(names().meta.service_model.operation_names)


def test_the_reports_of_nodes_are_read_with_retries() -> None:
    config = reports_client().meta.config
    assert (config.read_timeout, config.retries["total_max_attempts"]) == (15, 4)
