"""Products as AWS names them, and prices with their source."""

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

# 365 / 12 days, as in the AWS pricing calculator.
HOURS_PER_MONTH = Decimal(730)


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
