"""What an estimate leaves out, and what goes on costing when the cluster is gone: said beside each sum."""

from collections.abc import Iterator

from config.model import ClusterConfig, Implementation
from config.network import InternetAccess
from config.section import Removal

BY_USE = (
    "by use, and not in the sums: data through NAT gateways and out of a zone, what buckets hold and are asked for, logs, alarms "
    "and metrics, the functions that deploy"
)
ROOT = "not in the sums: the nodes' root volumes, whose size HyperPod determines"


def notes_on(config: ClusterConfig) -> Iterator[str]:
    """What a reader of the sums has to know."""
    yield "prices are those on demand, without taxes, and without what savings plans and agreements with AWS take off"
    yield BY_USE
    yield ROOT
    if config.implementation is Implementation.NONE:
        yield "with `implementation: none` no stack has the cluster; it costs this as long as it runs"
    yield from _on_what_is_there(config)
    yield from _after_destroy(config)


def _on_what_is_there(config: ClusterConfig) -> Iterator[str]:
    """What the cluster uses, and somebody pays already."""
    network, storage = config.network.existing, config.storage
    if network and network.internet_access is InternetAccess.EXISTING:
        yield f"not in the sums, as it is there already: the network, {network.vpc_id}"
    if storage.existing:
        yield f"not in the sums, as it is there already: the file system {storage.existing.file_system_id}"
    if storage.openzfs:
        yield f"not in the sums, as it is there already: the file system {storage.openzfs.dns_name}"


def _after_destroy(config: ClusterConfig) -> Iterator[str]:
    if config.storage.lustre and config.storage.lustre.removal is Removal.RETAIN:
        yield "after `cdk destroy`, the file system stays (`removal: retain`) and goes on costing the same"
    if config.removal is Removal.RETAIN:
        yield "after `cdk destroy`, the cluster stays (`removal: retain`) and goes on costing the same"
