"""Notes on an estimate: costs that are not included, and costs after `cdk destroy`."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from cluster_request.eks_addons import addons_after_nodes, standard_support_end
from config.eks import AddonName, EksConfig
from config.model import ClusterConfig
from config.network import InternetAccess
from config.section import Removal

BY_USE = (
    "not included, because charged by use: data through NAT gateways and between zones, S3 storage and requests, logs, alarms, "
    "metrics and the functions that deploy"
)
ROOT = "not included: the nodes' root volumes, whose size HyperPod determines"
MONITORING = "not included: the monitoring stack, about 8 USD per month (docs/operate/monitoring.md)"
OBSERVABILITY = (
    "not included: Container Insights of the add-on amazon-cloudwatch-observability, charged by observation and log volume"
)
LIST_PRICES = "on-demand list prices, without taxes, savings plans and discounts"


def notes_on(config: ClusterConfig, today: date | None = None) -> Iterator[str]:
    """Yield the notes on the cluster's estimate, by default of this day."""
    yield BY_USE
    yield ROOT
    if config.monitoring.enabled:
        yield MONITORING
    if config.eks:
        yield from _on_kubernetes(config, config.eks, today or datetime.now(UTC).date())
    yield from _on_what_is_there(config)
    yield from _after_destroy(config)


def _on_kubernetes(config: ClusterConfig, eks: EksConfig, today: date) -> Iterator[str]:
    if config.creates_eks_cluster and (end := standard_support_end(eks.version or "")):
        cost = "the control plane costs 0.60 USD per hour, not 0.10 USD"
        ended = f"standard support of Kubernetes {eks.version} ended on {end}: {cost}"
        yield ended if end < today else f"after {end}, Kubernetes {eks.version} is in extended support: {cost}"
    elif eks.existing:
        yield f"not included, because it already exists: the EKS cluster {eks.existing.name}"
    if AddonName.CLOUDWATCH_OBSERVABILITY in {addon.name for addon in addons_after_nodes(config)}:
        yield OBSERVABILITY


def _on_what_is_there(config: ClusterConfig) -> Iterator[str]:
    """Yield what the cluster uses and the deployment does not create."""
    network, storage = config.network.existing, config.storage
    if network and network.internet_access is InternetAccess.EXISTING:
        yield f"not included, because it already exists: the network, {network.vpc_id}"
    if storage.existing:
        yield f"not included, because it already exists: the file system {storage.existing.file_system_id}"
    if storage.openzfs:
        yield f"not included, because it already exists: the file system {storage.openzfs.dns_name}"


def _after_destroy(config: ClusterConfig) -> Iterator[str]:
    if config.storage.retains_file_systems:
        yield "after `cdk destroy`, the file system stays (`removal: retain`) and still costs the same"
    if config.eks and config.creates_eks_cluster and config.eks.removal is Removal.RETAIN:
        yield "after `cdk destroy`, the EKS cluster stays (`removal: retain`) and still costs the same"
    if config.removal is Removal.RETAIN:
        yield "after `cdk destroy`, the cluster stays (`removal: retain`) and still costs the same"
