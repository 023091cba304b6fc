"""Find fields that AWS::SageMaker::Cluster of the pinned aws-cdk-lib lacks."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

from aws_cdk import aws_sagemaker as sagemaker

from cluster_request.request import Request
from cluster_request.request_fields import in_file
from config.errors import Path, Problem
from config.model import ClusterConfig

MESSAGE = "unknown to AWS::SageMaker::Cluster of the pinned aws-cdk-lib; remove it, or set `implementation: custom_resource`"


def native_problems(config: ClusterConfig, request: Request) -> Iterator[Problem]:
    """Yield a problem for each member of the request that the native type lacks, with its path in the file."""
    for path, value in _unknown(request, sagemaker.CfnClusterProps, ()):
        yield Problem(in_file(config, path), value, MESSAGE, rule="request.native")


def _unknown(value: object, shape: type | None, path: Path) -> Iterator[tuple[Path, object]]:
    """Yield the members of ``value``, at any depth, that ``shape`` lacks; a shape of None has every member."""
    if isinstance(value, Mapping) and shape is not None:
        properties = _properties(shape)
        for name, item in value.items():
            if name.lower() in properties:
                yield from _unknown(item, properties[name.lower()], (*path, name))
            else:
                yield (*path, name), item
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from _unknown(item, shape, (*path, index))


@cache
def _properties(shape: type) -> dict[str, type | None]:
    """Return the properties of a jsii struct, each with the struct that it contains, directly or in a list.

    Names are in lower case without underscores, which makes Python's and the template's equal.
    """
    hints = get_type_hints(vars(shape)["__init__"])
    return {name.replace("_", ""): _structure(hint) for name, hint in hints.items() if name != "return"}


def _structure(hint: Any) -> type | None:
    """Return the jsii struct in a type hint, which also allows a token and a dict."""
    if isinstance(hint, type) and hint.__qualname__.startswith("CfnCluster."):
        return hint
    return next((found for inner in get_args(hint) if (found := _structure(inner))), None)
