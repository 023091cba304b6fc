"""Resources that AWS charges by the hour or by size, whether they are used or not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from cli.cost.price import CONTROL_PLANE, HOURS_PER_MONTH, NAT_GATEWAY, PUBLIC_ADDRESS, VOLUME, Product, Unknown, instance, lustre
from cli.group_members import groups_of, types_of
from cluster_request.request import RequestValues, cluster_request
from config.model import ClusterConfig
from config.network import InternetAccess
from config.storage import LustreConfig

GROUPS, KUBERNETES, STORAGE, NETWORK = "instance groups", "kubernetes", "storage", "network"
NODE_HOURS, HOURS, GIB_MONTHS = "node-hours", "hours", "GiB-months"


@dataclass(frozen=True)
class Charge:
    """One line of an estimate: an amount of nodes, GiB or gateways, and its product or the reason why it has no list price."""

    section: str
    name: str
    what: str
    amount: Decimal
    unit: str
    product: Product | Unknown

    @property
    def quantity(self) -> Decimal:
        """The units in a month of 730 hours."""
        return self.amount if self.unit == GIB_MONTHS else self.amount * HOURS_PER_MONTH


def charges_of(config: ClusterConfig) -> list[Charge]:
    """Return all charges of the cluster, in the order of its file."""
    return [*_of_groups(config), *_of_kubernetes(config), *_of_storage(config.storage.lustre), *_of_network(config)]


def _of_groups(config: ClusterConfig) -> Iterator[Charge]:
    request = cluster_request(config, values=RequestValues.samples(config))
    for group in groups_of(request):
        yield _nodes(group)
        yield from _volumes(group)
        yield from _own_file_system(group)


def _nodes(group: Mapping[str, Any]) -> Charge:
    types = types_of(group)
    threads = group.get("ThreadsPerCore")
    hyper_threading = f", {threads} {'thread' if threads == 1 else 'threads'} per core" if threads else ""
    what = f"{group['InstanceCount']} x {' or '.join(types)}{hyper_threading}"
    return Charge(GROUPS, group["InstanceGroupName"], what, Decimal(group["InstanceCount"]), NODE_HOURS, _instances(group, types))


def _instances(group: Mapping[str, Any], types: Sequence[str]) -> Product | Unknown:
    if "TrainingPlanArn" in group:
        return Unknown("paid with the training plan")
    if "Spot" in (group.get("CapacityRequirements") or {}):
        return Unknown("the Spot price varies")
    if len(types) != 1:
        return Unknown("HyperPod chooses the instance types")
    return instance(types[0])


def _volumes(group: Mapping[str, Any]) -> Iterator[Charge]:
    """Yield the additional volumes; an entry without a size only sets the root volume's key."""
    sizes = [each.get("EbsVolumeConfig", {}).get("VolumeSizeInGB") for each in group.get("InstanceStorageConfigs", ())]
    for size in filter(None, sizes):
        count = group["InstanceCount"]
        yield Charge(
            GROUPS, group["InstanceGroupName"], f"{count} x volume of {size} GB", Decimal(count * size), GIB_MONTHS, VOLUME
        )


def _own_file_system(group: Mapping[str, Any]) -> Iterator[Charge]:
    """Yield the file system that HyperPod creates for a restricted group."""
    if system := (group.get("EnvironmentConfig") or {}).get("FSxLustreConfig"):
        what = f"HyperPod's own FSx for Lustre, {system['SizeInGiB']} GiB"
        why = Unknown("AWS does not document its price")
        yield Charge(GROUPS, group["InstanceGroupName"], what, Decimal(system["SizeInGiB"]), GIB_MONTHS, why)


def _of_kubernetes(config: ClusterConfig) -> Iterator[Charge]:
    """Yield the control plane, if the deployment creates it; its price is that of standard support."""
    if config.creates_eks_cluster:
        yield Charge(KUBERNETES, "EKS control plane", "1", Decimal(1), HOURS, CONTROL_PLANE)


def _of_storage(config: LustreConfig | None) -> Iterator[Charge]:
    if config is not None:
        size, throughput = config.storage_capacity_gib, config.throughput_mbps_per_tib
        what = f"{size} GiB {config.deployment_type.value}, {throughput} MB/s per TiB"
        yield Charge(STORAGE, "FSx for Lustre", what, Decimal(size), GIB_MONTHS, lustre(throughput))


def _of_network(config: ClusterConfig) -> Iterator[Charge]:
    """Yield the NAT gateway, if the deployment creates it; gateway endpoints for S3 and DynamoDB are free."""
    existing = config.network.existing
    if existing is None or existing.internet_access is InternetAccess.CREATE:
        yield Charge(NETWORK, "NAT gateway", "1", Decimal(1), HOURS, NAT_GATEWAY)
        yield Charge(NETWORK, "public IPv4 address", "1, of the NAT gateway", Decimal(1), HOURS, PUBLIC_ADDRESS)
