"""Resources that AWS charges by the hour or by size, whether they are used or not, as price lists name them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import cache

from cluster_request.effective_request import EffectiveRequest, Group
from config.model import ClusterConfig
from config.network import InternetAccess
from config.storage import LustreConfig

# 365 / 12 days, as in the AWS pricing calculator.
HOURS_PER_MONTH = Decimal(730)
GROUPS, KUBERNETES, STORAGE, NETWORK = "instance groups", "kubernetes", "storage", "network"
NODE_HOURS, HOURS, GIB_MONTHS = "node-hours", "hours", "GiB-months"


class Unit(StrEnum):
    """The unit of a price, as price lists name it."""

    HOUR = "Hrs"
    GB_MONTH = "GB-Mo"


@dataclass(frozen=True)
class Product:
    """A product of AWS: its service, and its usage type without the region's prefix (`USW2-`), as on bills."""

    service: str
    usage_type: str
    unit: Unit
    # Pattern of what follows the usage type in price lists: the kind of a volume, which HyperPod chooses.
    variants: str = ""

    def is_named(self, usage_type: str) -> bool:
        """Return whether a price list means this product by the usage type."""
        return re.fullmatch(rf"([A-Z]{{2,4}}[0-9]?-)?{re.escape(self.usage_type)}{self.variants}", usage_type) is not None


@dataclass(frozen=True)
class Price:
    """A price in US dollars, with its source and date."""

    usd: Decimal
    date: str
    source: str

    @property
    def cited(self) -> str:
        """The date and the source."""
        return f"{self.date}, {self.source}"


@dataclass(frozen=True)
class Unknown:
    """The reason why there is no price."""

    why: str


def instance(name: str) -> Product:
    """Return the product of a node in a HyperPod cluster; its price differs from the EC2 instance's."""
    return Product("AmazonSageMaker", f"Cluster:{name}", Unit.HOUR)


VOLUME = Product("AmazonSageMaker", "Cluster:VolumeUsage", Unit.GB_MONTH, r"(\.[a-z0-9]+)?")
NAT_GATEWAY = Product("AmazonEC2", "NatGateway-Hours", Unit.HOUR)
CONTROL_PLANE = Product("AmazonEKS", "AmazonEKS-Hours:perCluster", Unit.HOUR)
PUBLIC_ADDRESS = Product("AmazonVPC", "PublicIPv4:InUseAddress", Unit.HOUR)


def lustre(throughput_mbps_per_tib: int) -> Product:
    """Return the product of FSx for Lustre on SSDs; the throughput also identifies the deployment type."""
    return Product("AmazonFSx", f"Storage.SSD.{throughput_mbps_per_tib}", Unit.GB_MONTH)


@dataclass(frozen=True)
class Charge:
    """One line of an estimate: an amount of nodes, GiB or gateways, and its product or the reason why it has no list price."""

    section: str
    name: str
    what: str
    amount: Decimal
    unit: str
    product: Product | Unknown
    price: Price | Unknown | None = None
    """None unless prices were requested."""

    @property
    def quantity(self) -> Decimal:
        """The units in a month of 730 hours."""
        return self.amount if self.unit == GIB_MONTHS else self.amount * HOURS_PER_MONTH

    @property
    def per_month(self) -> Decimal | None:
        """Exact dollars in a month of 730 hours; None if the price is unknown. A group without nodes is free."""
        if not self.amount:
            return Decimal(0)
        return self.quantity * self.price.usd if isinstance(self.price, Price) else None

    @property
    def per_hour(self) -> Decimal | None:
        """Dollars in an hour."""
        return None if self.per_month is None else self.per_month / HOURS_PER_MONTH


def priced(charges: Iterable[Charge], prices: Callable[[Product], Price | Unknown]) -> tuple[Charge, ...]:
    """Return the charges with their prices; ask for each product once, and not for groups without nodes."""
    price_of = cache(prices)

    def price(charge: Charge) -> Price | Unknown:
        if isinstance(charge.product, Unknown):
            return charge.product
        return price_of(charge.product) if charge.amount else Unknown("amount is 0")

    return tuple(replace(charge, price=price(charge)) for charge in charges)


def charges_of(config: ClusterConfig) -> list[Charge]:
    """Return all charges of the cluster, in the order of its file."""
    return [*_of_groups(config), *_of_kubernetes(config), *_of_storage(config.storage.lustre), *_of_network(config)]


def _of_groups(config: ClusterConfig) -> Iterator[Charge]:
    for group in EffectiveRequest(config).all_groups:
        yield _nodes(group)
        yield from _volumes(group)
        yield from _own_file_system(group)


def _nodes(group: Group) -> Charge:
    threads = group.member("ThreadsPerCore").number
    hyper_threading = f", {threads} {'thread' if threads == 1 else 'threads'} per core" if threads else ""
    what = f"{group.count} x {' or '.join(group.types)}{hyper_threading}"
    return Charge(GROUPS, group.name, what, Decimal(group.count), NODE_HOURS, _instances(group))


def _instances(group: Group) -> Product | Unknown:
    if group.training_plan:
        return Unknown("paid with the training plan")
    if group.is_spot:
        return Unknown("the Spot price varies")
    if len(group.types) != 1:
        return Unknown("HyperPod chooses the instance types")
    return instance(group.types[0])


def _volumes(group: Group) -> Iterator[Charge]:
    """Yield the additional volumes; an entry without a size only sets the root volume's key."""
    for size in filter(None, (volume.member("VolumeSizeInGB").number for volume in group.volumes)):
        what = f"{group.count} x volume of {size} GB"
        yield Charge(GROUPS, group.name, what, Decimal(group.count * size), GIB_MONTHS, VOLUME)


def _own_file_system(group: Group) -> Iterator[Charge]:
    """Yield the file system that HyperPod creates for a restricted group."""
    if size := group.member("EnvironmentConfig", "FSxLustreConfig", "SizeInGiB").number:
        why = Unknown("AWS does not document its price")
        yield Charge(GROUPS, group.name, f"HyperPod's own FSx for Lustre, {size} GiB", Decimal(size), GIB_MONTHS, why)


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
