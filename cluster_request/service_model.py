"""Read SageMaker's service model from the pinned botocore.

Reading botocore's file directly is faster than importing its loader, and ignores models in the user's ~/.aws/models.
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
# Uncompressed: gzip's output, and so the asset's hash, differs between builds of zlib; CDK compresses the asset anyway.
SLIM_FILE = "service-2.json"

# The operations of the custom resource, which its copy of the model must contain.
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

# Those of the resource of compute quotas, likewise.
QUOTA_OPERATIONS = (
    "AddTags",
    "CreateClusterSchedulerConfig",
    "CreateComputeQuota",
    "DeleteClusterSchedulerConfig",
    "DeleteComputeQuota",
    "DeleteTags",
    "DescribeClusterSchedulerConfig",
    "DescribeComputeQuota",
    "ListClusterSchedulerConfigs",
    "ListComputeQuotas",
    "ListTags",
    "UpdateClusterSchedulerConfig",
    "UpdateComputeQuota",
)

# Checked by synth and by the service; the client needs only names, types and required members.
UNUSED = frozenset({"box", "deprecated", "deprecatedMessage", "documentation", "enum", "errors", "max", "min", "pattern"})

# Members of replies that the functions do not read; a client leaves out what its model lacks.
UNREAD = frozenset(
    {
        "ActiveOperations",
        "ActiveSoftwareUpdateConfig",
        "AdditionalEnis",
        "Advisory",
        "AmiOverride",
        "CapacityReservation",
        "CustomerEni",
        "EksRoleAccessEntries",
        "ImageVersionStatus",
        "InstanceRequirementsEniConfigurations",
        "InstanceTypeDetails",
        "LastSoftwareUpdateTime",
        "LcsExecutionState",
        "NodeLogicalId",
        "PrivateDnsHostname",
        "RollbackStatus",
        "SlrAccessEntry",
        "SubnetId",
        "TargetStateCount",
        "TrainingPlanArns",
        "TrainingPlanStatus",
        "UltraServerInfo",
    }
)

Shape = dict[str, Any]


@cache
def service_model() -> dict[str, Any]:
    """Return the whole model, about 2.6 MB of JSON, read once."""
    botocore = find_spec("botocore")
    if botocore is None or botocore.origin is None:
        raise ModuleNotFoundError("botocore is not installed; run `make setup`")
    file = Path(botocore.origin).parent / "data" / FOLDER / FILE
    model: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return model


def shape(name: str) -> Shape:
    """Return the shape with this name."""
    found: Shape = service_model()["shapes"][name]
    return found


def input_shape(operation: str) -> str:
    """Return the name of the operation's input shape."""
    name: str = service_model()["operations"][operation]["input"]["shape"]
    return name


def group_shape() -> str:
    """Return the name of the shape of CreateCluster's instance groups."""
    name: str = shape(shape(input_shape("CreateCluster"))["members"]["InstanceGroups"]["shape"])["member"]["shape"]
    return name


def slim_model(operations: Iterable[str] = OPERATIONS) -> bytes:
    """Return the parts of the model that a client needs for ``operations``, as reproducible JSON."""
    whole = service_model()
    kept = {name: _without_unused(whole["operations"][name]) for name in operations}
    sent = _reached([operation["input"] for operation in kept.values()])
    shapes = {name: _slim_shape(shape(name)) for name in sent} | {name: _reply_shape(name) for name in _reached(kept) - sent}
    plain = {name: found["type"] for name, found in shapes.items() if found.keys() == {"type"}}
    cut = {
        "version": whole["version"],
        "metadata": whole["metadata"],
        "operations": kept,
        # Shapes without limits differ only in their names, which are not used.
        "shapes": {name: found for name, found in _renamed(shapes, plain).items() if name not in plain}
        | {kind: {"type": kind} for kind in plain.values()},
    }
    return json.dumps(cut, sort_keys=True, separators=(",", ":")).encode()


def _reached(operations: object) -> set[str]:
    """Return the names of all shapes to which ``operations`` refer, directly or indirectly."""
    found: set[str] = set()
    waiting = list(_references(operations))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(_reply_shape(name)))
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
    """Return the shape without unused traits; members keep their names, whatever these are."""
    slim = _without_unused(whole)
    if "members" in slim:
        slim["members"] = {name: _without_unused(member) for name, member in slim["members"].items()}
    return {name: _without_unused(value) if name in ("member", "key", "value") else value for name, value in slim.items()}


def _reply_shape(name: str) -> Shape:
    """Return a shape that only replies have: a client does not check what is required there."""
    slim = {trait: value for trait, value in _slim_shape(shape(name)).items() if trait != "required"}
    if "members" in slim:
        slim["members"] = {member: value for member, value in slim["members"].items() if member not in UNREAD}
    return slim


def _without_unused(traits: Shape) -> Shape:
    return {name: value for name, value in traits.items() if name not in UNUSED}


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Return the value with renamed references to shapes."""
    if isinstance(value, dict):
        return {
            key: names.get(item, item) if key == "shape" and isinstance(item, str) else _renamed(item, names)
            for key, item in value.items()
        }
    return value
