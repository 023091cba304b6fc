"""EKS with a real Kubernetes control plane per cluster, in place of moto's, which has neither add-ons nor access entries.

The API reports the requested Kubernetes version; the API server is 1.20. See docs/internals/fidelity.md.
"""

from typing import Any

from local_aws import control, durations, network_interfaces, rest_json_service
from local_aws.eks import (
    access_operations,
    addon_operations,
    cluster_operations,
    model,
    network,
    pod_identity,
    tag_operations,
    update_operations,
    webhooks,
)
from local_aws.rest_json_service import RestJsonService


def install(endpoint: str) -> None:
    """Serve EKS, and answer the API servers' webhooks."""
    modules = (cluster_operations, update_operations, access_operations, addon_operations, pod_identity, tag_operations)
    operations = {name: operation for module in modules for name, operation in module.OPERATIONS.items()}
    rest_json_service.install(RestJsonService("eks", operations, model.lock, "InvalidParameterException"))
    network_interfaces.install()
    durations.install()
    webhooks.install(endpoint)
    control.route("kubernetes", _kubeconfigs)


def _kubeconfigs(_: control.Request) -> dict[str, str]:
    """Return the file of each control plane with which an administrator uses it, by its cluster's name."""
    planes: list[tuple[str, Any]] = [(cluster.name, cluster.plane) for cluster in model.everything() if cluster.plane]
    return {name: str(plane.kubeconfig) for name, plane in planes}


def reset() -> None:
    """End all control planes and delete all clusters."""
    with model.lock:
        clusters = model.everything()
        model.reset()
    for cluster in clusters:
        if cluster.plane:
            cluster.plane.stop()
        network.detach(cluster)
