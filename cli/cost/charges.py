"""What of a cluster is charged by the hour or by its size, whether it is used or not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from cli.cost.price import NAT_GATEWAY, PUBLIC_ADDRESS, VOLUME, Product, Unknown, instance, lustre
from cli.group_members import groups_of, types_of
from cluster_request.request import RequestValues, cluster_request
from config.model import ClusterConfig
from config.network import InternetAccess
from config.storage import LustreConfig

GROUPS, STORAGE, NETWORK = "instance groups", "storage", "network"


@dataclass(frozen=True)
class Charge:
    """One line of the estimate: how much of what, and why nobody can say the price, where nobody can."""

    section: str
    name: str
    what: str
    amount: Decimal
    product: Product | Unknown


def charges_of(config: ClusterConfig) -> list[Charge]:
    """All charges of the cluster, in the order of its file."""
    return [*_of_groups(config), *_of_storage(config.storage.lustre), *_of_network(config)]


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
    return Charge(GROUPS, group["InstanceGroupName"], what, Decimal(group["InstanceCount"]), _instances(group, types))


def _instances(group: Mapping[str, Any], types: Sequence[str]) -> Product | Unknown:
    if "TrainingPlanArn" in group:
        return Unknown("the training plan's price holds, which was paid when the plan was bought")
    if "Spot" in (group.get("CapacityRequirements") or {}):
        return Unknown("the price of Spot capacity changes all the time")
    if len(types) != 1:
        return Unknown("HyperPod chooses which types the nodes have")
    return instance(types[0])


def _volumes(group: Mapping[str, Any]) -> Iterator[Charge]:
    """The additional volumes; one that only names the root volume's key has no size, and is no volume more."""
    sizes = [each.get("EbsVolumeConfig", {}).get("VolumeSizeInGB") for each in group.get("InstanceStorageConfigs", ())]
    for size in filter(None, sizes):
        count = group["InstanceCount"]
        yield Charge(GROUPS, group["InstanceGroupName"], f"{count} x volume of {size} GB", Decimal(count * size), VOLUME)


def _own_file_system(group: Mapping[str, Any]) -> Iterator[Charge]:
    """The file system that HyperPod makes for a restricted group."""
    if system := (group.get("EnvironmentConfig") or {}).get("FSxLustreConfig"):
        what = f"HyperPod's own FSx for Lustre, {system['SizeInGiB']} GiB"
        why = Unknown("nobody says whether HyperPod charges it as FSx does")
        yield Charge(GROUPS, group["InstanceGroupName"], what, Decimal(system["SizeInGiB"]), why)


def _of_storage(config: LustreConfig | None) -> Iterator[Charge]:
    if config is not None:
        size, throughput = config.storage_capacity_gib, config.throughput_mbps_per_tib
        what = f"{size} GiB {config.deployment_type.value}, {throughput} MB/s per TiB"
        yield Charge(STORAGE, "FSx for Lustre", what, Decimal(size), lustre(throughput))


def _of_network(config: ClusterConfig) -> Iterator[Charge]:
    """The gateway of the way to the internet, where we make it; its endpoints for S3 and DynamoDB cost nothing."""
    existing = config.network.existing
    if existing is None or existing.internet_access is InternetAccess.CREATE:
        yield Charge(NETWORK, "NAT gateway", "1", Decimal(1), NAT_GATEWAY)
        yield Charge(NETWORK, "public IPv4 address", "1, of the NAT gateway", Decimal(1), PUBLIC_ADDRESS)
