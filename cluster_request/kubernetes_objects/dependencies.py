"""List the objects that a deployment applies in an EKS cluster."""

import base64
import json
import lzma
from collections.abc import Iterable

from cluster_request.helm_chart.chart import rendered
from cluster_request.kubernetes_objects.builders import NAMESPACE, Json, namespace
from cluster_request.kubernetes_objects.device_plugins import device_plugins
from cluster_request.kubernetes_objects.health_agent import health_agent
from cluster_request.kubernetes_objects.service_roles import service_roles
from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem, file_system_objects
from cluster_request.kubernetes_objects.team_objects import team_objects, team_roles
from config.instance_group import Taint
from config.model import ClusterConfig

PACKED = "xz:"
"""The start of a text with several objects, packed because CloudFormation and Step Functions limit their size."""
LARGE = 16 * 1024
"""The length of an object's text from which it is packed: CustomResourceDefinitions, unreadable in a template anyway."""
MAX_EVENT = 256 * 1024 - 10_000
"""What Step Functions accepts as input, less the event's other fields: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html"""


def objects_of(config: ClusterConfig, *, region: str, file_system: SharedFileSystem | None = None) -> list[Json]:
    """Return all objects of a file in a fixed order; raise UnknownRegionError if HyperPod has no agent in the Region."""
    teams = config.eks.teams if config.eks else ()
    chart = rendered(config.eks) if config.eks else None
    return [
        *(
            chart.objects
            if chart
            else dependencies(region, [taint for group in config.instance_groups for taint in group.taints])
        ),
        *team_roles(teams),
        *(item for team in teams for item in team_objects(team)),
        *(item for team in teams if file_system for item in file_system_objects(file_system, team.namespace)),
    ]


def texts_of(objects: Iterable[Json]) -> list[str]:
    """Return the texts that the custom resource takes: one for each object, and one for all large objects."""
    texts = [json.dumps(item, separators=(",", ":")) for item in objects]
    large = [text for text in texts if len(text) >= LARGE]
    return [*(text for text in texts if len(text) < LARGE), *([_packed(large)] if large else [])]


def event_size(texts: Iterable[str]) -> int:
    """Return the length of the texts in the event of an Update, which has those of the last deployment too."""
    return 2 * len(json.dumps(list(texts)))


def _packed(texts: list[str]) -> str:
    data = lzma.compress(f"[{','.join(texts)}]".encode(), preset=9)
    return PACKED + base64.b64encode(data).decode()


def dependencies(region: str, taints: Iterable[Taint] = ()) -> list[Json]:
    """Return what HyperPod needs in a Region; raise UnknownRegionError if HyperPod has no agent there."""
    return [namespace(NAMESPACE), *service_roles(), *health_agent(region), *device_plugins(region, taints)]
