"""List the objects that a deployment applies in an EKS cluster."""

import base64
import json
import lzma
from collections.abc import Iterable, Mapping

from cluster_request.effective_request import EffectiveRequest
from cluster_request.helm_chart.chart import rendered
from cluster_request.kubernetes_objects.builders import (
    NAMESPACE,
    RBAC,
    Json,
    account_subject,
    binding,
    cluster_role,
    namespace,
    rule,
    service_account,
)
from cluster_request.kubernetes_objects.device_plugins import device_plugins
from cluster_request.kubernetes_objects.health_agent import health_agent
from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem, file_system_objects
from cluster_request.kubernetes_objects.team_objects import team_objects, team_roles
from cluster_request.property_values import named_properties
from config.instance_group import Taint
from config.model import ClusterConfig

PACKED = "xz:"
"""The start of a text with several objects, packed because CloudFormation and Step Functions limit their size."""
LARGE = 16 * 1024
"""The length of an object's text from which it is packed: CustomResourceDefinitions, unreadable in a template anyway."""
MAX_EVENT = 256 * 1024 - 10_000
"""What Step Functions accepts as input, less the event's other fields: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html"""

SERVICE_USER = "hyperpod-service-linked-role"
"""The Kubernetes user of HyperPod's service-linked role, for which HyperPod creates the access entry."""
SERVICE = {"apiGroup": RBAC, "kind": "User", "name": SERVICE_USER}
HEALTH_CHECK_ACCOUNT = "deep-health-check-service-account"


def objects_of(config: ClusterConfig, *, region: str, file_system: SharedFileSystem | None = None) -> list[Json]:
    """Return all objects of a file in a fixed order; raise UnknownRegionError if HyperPod has no agent in the Region."""
    teams = config.eks.teams if config.eks else ()
    chart = rendered(config.eks) if config.eks else None
    return [
        *(chart.objects if chart else own_objects(config, region)),
        *team_roles(teams),
        *(item for team in teams for item in team_objects(team)),
        *(item for team in teams if file_system for item in file_system_objects(file_system, team.namespace)),
    ]


def own_objects(config: ClusterConfig, region: str) -> list[Json]:
    """Return the objects that HyperPod needs, for the types and taints of a file."""
    taints = [taint for group in EffectiveRequest(config).groups for _, taint in group.taints()]
    has_plugin = config.eks is None or config.eks.nvidia_device_plugin
    found = dependencies(region, taints, node_types(config))
    return [each for each in found if has_plugin or each["metadata"]["name"] != "nvidia-device-plugin"]


def object_properties(objects: Iterable[Json]) -> Json:
    """Return the properties that the custom resource takes: one for each object, and `Objects` for all large ones."""
    items = list(objects)
    texts = [json.dumps(item, separators=(",", ":")) for item in items]
    small = ((_name_of(item), item) for item, text in zip(items, texts, strict=True) if len(text) < LARGE)
    large = [text for text in texts if len(text) >= LARGE]
    return {**named_properties("Object", small), **({"Objects": [_packed(large)]} if large else {})}


def event_size(properties: Json) -> int:
    """Return the length of the properties in the event of an Update, which has those of the last deployment too."""
    return 2 * len(json.dumps(properties))


def _name_of(item: Json) -> str:
    metadata = item["metadata"]
    return f"{item['kind']} {metadata.get('namespace') or ''} {metadata['name']}"


def _packed(texts: list[str]) -> str:
    data = lzma.compress(f"[{','.join(texts)}]".encode(), preset=9)
    return PACKED + base64.b64encode(data).decode()


def node_types(config: ClusterConfig) -> dict[str, bool]:
    """Return a file's instance types, and whether it requests EFA for them: types newer than the table need plugins too."""
    found: dict[str, bool] = {}
    for group in EffectiveRequest(config).all_groups:
        has_efa = group.member("NetworkInterface", "InterfaceType").text.startswith("efa")
        found |= {name: has_efa or found.get(name, False) for name in group.types}
    return found


def dependencies(region: str, taints: Iterable[Taint] = (), types: Mapping[str, bool] = {}) -> list[Json]:
    """Return what HyperPod needs in a Region; raise UnknownRegionError if HyperPod has no agent there."""
    return [namespace(NAMESPACE), *_service_roles(), *health_agent(region, types), *device_plugins(region, taints, types)]


def _service_roles() -> list[Json]:
    """Return the roles that let HyperPod's service check nodes, restart jobs and patch, with their bindings."""
    return [*_deep_health_check(), *_job_auto_restart(), *_patching()]


def _deep_health_check() -> list[Json]:
    # charts/deep-health-check: its pods read the nodes that they check, and mark themselves as done.
    role = cluster_role(
        "deep-health-check",
        rule(["nodes"], ["get", "list"]),
        rule(["pods"], ["get", "list", "patch"]),
    )
    return [
        service_account(HEALTH_CHECK_ACCOUNT),
        role,
        binding("deep-health-check", "deep-health-check", [account_subject(HEALTH_CHECK_ACCOUNT)]),
    ]


def _job_auto_restart() -> list[Json]:
    # charts/job-auto-restart: the service deletes the pods of a failed node and restarts PyTorchJobs.
    jobs = ["get", "list", "watch", "delete", "patch", "update"]
    role = cluster_role(
        "job-auto-restart",
        rule(["nodes", "nodes/status", "pods", "pods/status"], ["get", "list", "watch"]),
        rule(["pods"], ["delete", "deletecollection"]),
        rule(["nodes", "nodes/status"], ["patch"]),
        rule(["events"], ["create"]),
        rule(["pytorchjobs", "pytorchjobs/status"], jobs, ["kubeflow.org"]),
        rule(["leases"], ["get", "create", "update", "delete"], ["coordination.k8s.io"]),
    )
    return [role, binding("job-auto-restart", "job-auto-restart", [SERVICE])]


def _patching() -> list[Json]:
    # charts/hyperpod-patching: the service evicts the pods of a node before it patches it.
    role = cluster_role("hyperpod-patching", rule(["pods"], ["list"]), rule(["pods/eviction"], ["create"]))
    return [role, binding("hyperpod-patching", "hyperpod-patching", [SERVICE])]
