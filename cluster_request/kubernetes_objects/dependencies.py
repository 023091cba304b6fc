"""List the objects that a deployment applies in an EKS cluster."""

import json
from collections.abc import Iterable

from cluster_request.kubernetes_objects.builders import NAMESPACE, Json, namespace
from cluster_request.kubernetes_objects.device_plugins import device_plugins
from cluster_request.kubernetes_objects.health_agent import health_agent
from cluster_request.kubernetes_objects.service_roles import service_roles
from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem, file_system_objects
from cluster_request.kubernetes_objects.team_objects import team_objects, team_roles
from config.instance_group import Taint
from config.model import ClusterConfig


def objects_of(config: ClusterConfig, *, region: str, file_system: SharedFileSystem | None = None) -> list[Json]:
    """Return all objects of a file in a fixed order; raise UnknownRegionError if HyperPod has no agent in the Region."""
    teams = config.eks.teams if config.eks else ()
    return [
        *dependencies(region, [taint for group in config.instance_groups for taint in group.taints]),
        *team_roles(teams),
        *(item for team in teams for item in team_objects(team)),
        *(item for team in teams if file_system for item in file_system_objects(file_system, team.namespace)),
    ]


def texts_of(objects: Iterable[Json]) -> list[str]:
    """Return each object as the text that the custom resource takes."""
    return [json.dumps(item, separators=(",", ":")) for item in objects]


def dependencies(region: str, taints: Iterable[Taint] = ()) -> list[Json]:
    """Return what HyperPod needs in a Region; raise UnknownRegionError if HyperPod has no agent there."""
    return [namespace(NAMESPACE), *service_roles(), *health_agent(region), *device_plugins(region, taints)]
