"""List all objects that HyperPod needs in an EKS cluster."""

from cluster_request.kubernetes_objects.builders import NAMESPACE, Json, namespace
from cluster_request.kubernetes_objects.device_plugins import device_plugins
from cluster_request.kubernetes_objects.health_agent import health_agent
from cluster_request.kubernetes_objects.service_roles import service_roles


def dependencies(region: str) -> list[Json]:
    """Return the objects for a Region; raise UnknownRegionError if HyperPod has no agent there."""
    return [namespace(NAMESPACE), *service_roles(), *health_agent(region), *device_plugins(region)]
