"""SageMaker's service model as the pinned botocore carries it.

It is read straight from botocore's file: importing botocore's own loader takes longer than the reading, and the loader would
let a model in the user's ~/.aws/models change what is synthesized.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = "sagemaker/2017-07-24"
FILE = "service-2.json.gz"
# Not packed: how gzip packs differs from one build of zlib to another, and with it the asset's hash; CDK's zip packs it anyway.
SLIM_FILE = "service-2.json"

# What the custom resource calls, and so what its own copy of the model must know.
OPERATIONS = (
    "AddTags",
    "CreateCluster",
    "DeleteCluster",
    "DeleteTags",
    "DescribeCluster",
    "DescribeClusterEvent",
    "ListClusterEvents",
    "ListClusterNodes",
    "ListClusters",
    "ListTags",
    "UpdateCluster",
)

# What synth checks, and what the service checks in the end; the client needs names, types and what is required.
UNUSED = frozenset({"box", "deprecated", "deprecatedMessage", "documentation", "enum", "errors", "max", "min", "pattern"})

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


def group_shape() -> str:
    """The name of the shape of CreateCluster's instance groups."""
    name: str = shape(shape(input_shape("CreateCluster"))["members"]["InstanceGroups"]["shape"])["member"]["shape"]
    return name


def slim_model(operations: Iterable[str] = OPERATIONS) -> bytes:
    """The model cut to what a client needs for ``operations``, as JSON that is the same each time."""
    whole = service_model()
    kept = {name: _without_unused(whole["operations"][name]) for name in operations}
    shapes = {name: _slim_shape(shape(name)) for name in _reached(kept)}
    plain = {name: found["type"] for name, found in shapes.items() if found.keys() == {"type"}}
    cut = {
        "version": whole["version"],
        "metadata": whole["metadata"],
        "operations": kept,
        # All strings without a bound are alike: nobody sees the names of such shapes.
        "shapes": {name: found for name, found in _renamed(shapes, plain).items() if name not in plain}
        | {kind: {"type": kind} for kind in plain.values()},
    }
    return json.dumps(cut, sort_keys=True, separators=(",", ":")).encode()


def _reached(operations: object) -> set[str]:
    """The names of all shapes to which ``operations`` refer, directly or through others."""
    found: set[str] = set()
    waiting = list(_references(operations))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(_slim_shape(shape(name))))
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


def _slim_shape(whole: Shape) -> Shape:
    """The shape without what a client does not use; members keep their names, whatever these are."""
    slim = _without_unused(whole)
    if "members" in slim:
        slim["members"] = {name: _without_unused(member) for name, member in slim["members"].items()}
    return {name: _without_unused(value) if name in ("member", "key", "value") else value for name, value in slim.items()}


def _without_unused(traits: Shape) -> Shape:
    return {name: value for name, value in traits.items() if name not in UNUSED}


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """The value with references to shapes called otherwise."""
    if isinstance(value, dict):
        return {
            key: names.get(item, item) if key == "shape" and isinstance(item, str) else _renamed(item, names)
            for key, item in value.items()
        }
    return value
