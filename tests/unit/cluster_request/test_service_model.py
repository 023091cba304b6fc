import json
import zlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from cluster_request.service_model import (
    FOLDER,
    OPERATIONS,
    QUOTA_OPERATIONS,
    SLIM_FILE,
    UNREAD,
    UNUSED,
    service_model,
    shape,
    slim_model,
)
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


@pytest.mark.parametrize("operations", [OPERATIONS, QUOTA_OPERATIONS])
def test_the_slim_model_holds_the_operations_with_all_their_shapes(operations: tuple[str, ...]) -> None:
    slim, whole = ServiceModel(json.loads(slim_model(operations)), "sagemaker"), ServiceModel(service_model(), "sagemaker")
    assert set(slim.operation_names) == set(operations)
    for name in operations:
        ours, theirs = slim.operation_model(name), whole.operation_model(name)
        assert ours.http == theirs.http
        compare(ours.input_shape, theirs.input_shape)
        compare(ours.output_shape, theirs.output_shape, UNREAD, {*UNUSED, "required"})


def compare(slim: Any, whole: Any, unread: frozenset[str] = frozenset(), unused: set[str] | frozenset[str] = UNUSED) -> None:
    """Assert that both shapes are the same for a client, recursively."""
    if whole is None:
        assert slim is None
        return
    assert (slim.type_name, slim.serialization) == (whole.type_name, whole.serialization)
    assert without(slim.metadata, unused) == without(whole.metadata, unused)
    if whole.type_name == "structure":
        members = without(whole.members, unread)
        assert (slim.name, sorted(slim.members)) == (whole.name, sorted(members))
        for member in members:
            compare(slim.members[member], whole.members[member], unread, unused)
    for part in {"list": ("member",), "map": ("key", "value")}.get(whole.type_name, ()):
        compare(getattr(slim, part), getattr(whole, part), unread, unused)


def without(traits: Any, names: set[str] | frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in traits.items() if name not in names}


def member_paths(of: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each member of a shape, also inside lists and maps."""
    for name, member in getattr(of, "members", {}).items():
        yield f"{path}.{name}"
        yield from member_paths(member, f"{path}.{name}")
    for part in {"list": ("member",), "map": ("value",)}.get(of.type_name, ()):
        yield from member_paths(getattr(of, part), path)


def test_the_functions_neither_send_nor_read_a_member_that_the_slim_model_leaves_out() -> None:
    whole, folder = ServiceModel(service_model(), "sagemaker"), Path(__file__).parents[3] / "lambda_assets"
    sources = [file.read_text() for package in ("cluster", "quota") for file in (folder / f"{package}_resource").glob("*.py")]
    assert len(sources) > 30
    sent: set[str] = set()
    for operation in (*OPERATIONS, *QUOTA_OPERATIONS):
        sent |= {path.rsplit(".", 1)[-1] for path in member_paths(whole.operation_model(operation).input_shape)}
    assert not UNREAD & sent
    assert [name for name in sorted(UNREAD) if any(f'"{name}"' in source for source in sources)] == []


def test_the_slim_model_holds_each_failure_message_of_the_events() -> None:
    """The code looks for them at any depth."""
    models = (ServiceModel(unpacked(), "sagemaker"), ServiceModel(service_model(), "sagemaker"))
    of_events = [member_paths(model.operation_model("DescribeClusterEvent").output_shape) for model in models]
    slim, whole = ([path for path in sorted(paths) if path.endswith(".FailureMessage")] for paths in of_events)
    assert slim == whole
    assert len(whole) > 3


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
