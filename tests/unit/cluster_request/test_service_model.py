import json
import zlib
from importlib.metadata import version
from typing import Any

import botocore.session
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from cluster_request.service_model import FOLDER, OPERATIONS, SLIM_FILE, UNUSED, service_model, shape, slim_model
from config.instance_group import DeepHealthCheck
from config.model import NodeRecovery


def unpacked() -> dict[str, Any]:
    model: dict[str, Any] = json.loads(slim_model())
    return model


def documented(value: object) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("documentation"), str) or any(map(documented, value.values()))
    return isinstance(value, list) and any(map(documented, value))


def test_the_model_is_the_one_that_botocore_loads() -> None:
    assert service_model() == Loader().load_service_model("sagemaker", "service-2")


def test_the_slim_model_is_small_and_the_same_each_time() -> None:
    assert slim_model() == slim_model()
    assert len(zlib.compress(slim_model())) < 4_000


def test_the_slim_model_has_no_documentation() -> None:
    assert documented(service_model())
    assert not documented(unpacked())


def test_the_slim_model_holds_the_operations_with_all_their_shapes() -> None:
    slim, whole = ServiceModel(unpacked(), "sagemaker"), ServiceModel(service_model(), "sagemaker")
    assert set(slim.operation_names) == set(OPERATIONS)
    for name in OPERATIONS:
        assert slim.operation_model(name).http == whole.operation_model(name).http
        for way in ("input_shape", "output_shape"):
            compare(getattr(slim.operation_model(name), way), getattr(whole.operation_model(name), way))


def compare(slim: Any, whole: Any) -> None:
    """Assert that both shapes are the same for a client, recursively."""
    if whole is None:
        assert slim is None
        return
    assert (slim.type_name, slim.serialization) == (whole.type_name, whole.serialization)
    assert slim.metadata == {name: value for name, value in whole.metadata.items() if name not in UNUSED}
    if whole.type_name == "structure":
        assert (slim.name, sorted(slim.members)) == (whole.name, sorted(whole.members))
        for member in whole.members:
            compare(slim.members[member], whole.members[member])
    for part in {"list": ("member",), "map": ("key", "value")}.get(whole.type_name, ()):
        compare(getattr(slim, part), getattr(whole, part))


def test_botocore_makes_a_client_of_the_slim_model(tmp_path: Any) -> None:
    file = tmp_path / FOLDER / SLIM_FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(slim_model())
    session = botocore.session.Session()
    session.get_component("data_loader").search_paths.insert(0, str(tmp_path))
    client = session.create_client("sagemaker", region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="x")
    assert set(client.meta.service_model.operation_names) == set(OPERATIONS)


@pytest.mark.parametrize(("ours", "theirs"), [(DeepHealthCheck, "DeepHealthCheckType"), (NodeRecovery, "ClusterNodeRecovery")])
def test_our_choices_are_those_of_the_service(ours: Any, theirs: str) -> None:
    assert {str(choice) for choice in ours} == set(shape(theirs)["enum"])


def test_the_model_is_that_of_the_pinned_boto3() -> None:
    assert version("boto3") == version("botocore")
