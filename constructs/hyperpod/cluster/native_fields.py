"""Which fields of a request AWS::SageMaker::Cluster has, as the pinned aws-cdk-lib describes it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

from aws_cdk import aws_sagemaker as sagemaker

from cluster_request.request import Request, in_file
from config.errors import Path, Problem
from config.model import ClusterConfig

REMEDY = "AWS::SageMaker::Cluster of the pinned aws-cdk-lib does not have it; remove it, or set `implementation: custom_resource`"


def native_problems(config: ClusterConfig, request: Request) -> Iterator[Problem]:
    """The members of the request that the native type lacks, by their path in the file."""
    for path, value in _unknown(request, sagemaker.CfnClusterProps, ()):
        yield Problem(in_file(config, path), value, REMEDY, rule="request.native")


def _unknown(value: object, shape: type | None, path: Path) -> Iterator[tuple[Path, object]]:
    """The members at any depth of ``value`` that ``shape`` has no property for; None is a shape that takes all."""
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
    """The properties of a jsii structure with the structure that each holds, or holds many of.

    Python's names are in snake case, the template's are not: without underscores and in lower case they are the same.
    """
    hints = get_type_hints(vars(shape)["__init__"])
    return {name.replace("_", ""): _structure(hint) for name, hint in hints.items() if name != "return"}


def _structure(hint: Any) -> type | None:
    """The jsii structure in a type hint; jsii allows for each a token and a dict as well."""
    if isinstance(hint, type) and hint.__qualname__.startswith("CfnCluster."):
        return hint
    return next((found for inner in get_args(hint) if (found := _structure(inner))), None)
