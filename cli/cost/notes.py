"""Notes on an estimate: costs that are not included, and costs after `cdk destroy`."""

from collections.abc import Iterator

from cluster_request.eks_addons import addons_after_nodes
from config.eks import AddonName, EksConfig
from config.model import ClusterConfig, Implementation
from config.network import InternetAccess
from config.section import Removal

BY_USE = (
    "not included, because charged by use: data through NAT gateways and between zones, S3 storage and requests, logs, alarms, "
    "metrics and the functions that deploy"
)
ROOT = "not included: the nodes' root volumes, whose size HyperPod determines"
MONITORING = "not included: the monitoring stack, about 8 USD per month (docs/operate/monitoring.md)"
# The last days of standard support, by EKS's release calendar as of 2026-04-24; versions of the add-ons' table.
# https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
STANDARD_SUPPORT = {"1.32": "2026-03-23", "1.33": "2026-07-29", "1.34": "2026-12-02"}
OBSERVABILITY = (
    "not included: Container Insights of the add-on amazon-cloudwatch-observability, charged by observation and log volume"
)
LIST_PRICES = "on-demand list prices, without taxes, savings plans and discounts"


def notes_on(config: ClusterConfig) -> Iterator[str]:
    """Yield the notes on the cluster's estimate."""
    yield BY_USE
    yield ROOT
    if config.is_monitored:
        yield MONITORING
    if config.eks:
        yield from _on_kubernetes(config, config.eks)
    if config.implementation is Implementation.NONE:
        yield "`implementation: none`: no stack owns the cluster, which costs this while it runs"
    yield from _on_what_is_there(config)
    yield from _after_destroy(config)


def _on_kubernetes(config: ClusterConfig, eks: EksConfig) -> Iterator[str]:
    if config.creates_eks_cluster and eks.version in STANDARD_SUPPORT:
        extended = f"after {STANDARD_SUPPORT[eks.version]}, Kubernetes {eks.version} is in extended support"
        yield f"{extended}: the control plane costs 0.60 USD per hour, not 0.10 USD"
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
