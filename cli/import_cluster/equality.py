"""Comparison of the imported file's request with the original, field by field."""

from collections.abc import Mapping
from typing import Any

from cli.import_cluster.api_setup import mounts_of
from cli.import_cluster.choices import Choices
from cli.import_cluster.deployed_values import values_of, with_values
from cli.import_cluster.groups import tags_of
from cli.import_cluster.original import Original
from cluster_request.request import Request, cluster_request
from config.errors import Path, dotted
from config.model import ClusterConfig


def unequal(original: Original, choices: Choices, config: ClusterConfig) -> list[str]:
    """Return the fields that differ, except those that the deployment decides and our tags."""
    keep, values = choices.keep, values_of(original.request, choices.keep, mounts_of(original, choices))
    made = cluster_request(config, values=values)
    if config.cluster_name is not None:
        made["ClusterName"] = config.cluster_name
    ours, theirs = _leaves(made), _leaves(_user_tags(with_values(original.request, keep, values)))
    return [dotted(path) for path in ours | theirs if ours.get(path, NOTHING) != theirs.get(path, NOTHING)]


NOTHING = object()


def _user_tags(request: Request) -> Request:
    tags = [{"Key": key, "Value": value} for key, value in tags_of(request).items()]
    rest = {name: value for name, value in request.items() if name != "Tags"}
    return {**rest, "Tags": tags} if tags else rest


def _leaves(value: Any, path: Path = ()) -> dict[Path, object]:
    """Yield every leaf with its path; an empty structure is a leaf."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    found = {leaf: item for key, below in items for leaf, item in _leaves(below, (*path, key)).items()}
    return found or {path: value}
