"""SageMaker's service model as the pinned botocore carries it.

It is read straight from botocore's file: importing botocore's own loader takes longer than the reading, and the loader would
let a model in the user's ~/.aws/models change what is synthesized.
"""

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = "sagemaker/2017-07-24"
FILE = "service-2.json.gz"

# What the custom resource calls, and so what its own copy of the model must know.
OPERATIONS = (
    "AddTags",
    "CreateCluster",
    "DeleteCluster",
    "DeleteTags",
    "DescribeCluster",
    "DescribeClusterEvent",
    "DescribeClusterNode",
    "ListClusterEvents",
    "ListClusterNodes",
    "ListClusters",
    "ListTags",
    "UpdateCluster",
)

Shape = dict[str, Any]


@cache
def service_model() -> dict[str, Any]:
    """The whole model; about 2.6 MB of JSON, read once."""
    botocore = find_spec("botocore")
    if botocore is None or botocore.origin is None:
        raise ModuleNotFoundError("botocore is not installed; run `make setup`")
    file = Path(botocore.origin).parent / "data" / FOLDER / FILE
    model: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return model


def shape(name: str) -> Shape:
    """The shape of this name."""
    found: Shape = service_model()["shapes"][name]
    return found


def input_shape(operation: str) -> str:
    """The name of the operation's input shape."""
    name: str = service_model()["operations"][operation]["input"]["shape"]
    return name


def slim_model(operations: Iterable[str] = OPERATIONS) -> bytes:
    """The model cut to ``operations``, without documentation, as a gzip file that is the same each time."""
    whole = service_model()
    kept = {name: whole["operations"][name] for name in operations}
    cut = {
        "version": whole["version"],
        "metadata": whole["metadata"],
        "operations": kept,
        "shapes": {name: shape(name) for name in _reached(kept)},
    }
    text = json.dumps(_undocumented(cut), sort_keys=True, separators=(",", ":"))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(text.encode())
    return packed.getvalue()


def _reached(start: object) -> set[str]:
    """The names of all shapes to which ``start`` refers, directly or through others."""
    found: set[str] = set()
    waiting = list(_references(start))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(shape(name)))
    return found


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("shape"), str):
            yield value["shape"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _undocumented(value: object) -> object:
    """The value without documentation, at any depth; a member that happens to have that name stays, as it is no text."""
    if isinstance(value, dict):
        return {key: _undocumented(item) for key, item in value.items() if not (key == "documentation" and isinstance(item, str))}
    if isinstance(value, list):
        return [_undocumented(item) for item in value]
    return value
