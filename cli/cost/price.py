"""What is priced, in AWS's words, and a price with where it comes from."""

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

# Of a month with 365 / 12 days, as AWS's own calculator counts.
HOURS_PER_MONTH = Decimal(730)


class Unit(StrEnum):
    """What a price is for, as price lists call it."""

    HOUR = "Hrs"
    GB_MONTH = "GB-Mo"


@dataclass(frozen=True)
class Product:
    """What AWS charges for: its service, and its usage type without the region's prefix (`USW2-`), as bills show it."""

    service: str
    usage_type: str
    unit: Unit
    # What price lists write behind the usage type, as a pattern: the kind of a volume, where HyperPod chooses it.
    variants: str = ""

    def is_named(self, usage_type: str) -> bool:
        """Tell whether it is the one that a price list has under this name."""
        return re.fullmatch(rf"([A-Z]{{2,4}}[0-9]?-)?{re.escape(self.usage_type)}{self.variants}", usage_type) is not None


@dataclass(frozen=True)
class Price:
    """A price in US dollars, and who says so and when."""

    usd: Decimal
    date: str
    source: str


@dataclass(frozen=True)
class Unknown:
    """Why there is no price."""

    why: str


def instance(name: str) -> Product:
    """A node of this type in a HyperPod cluster; its price is not that of the EC2 instance."""
    return Product("AmazonSageMaker", f"Cluster:{name}", Unit.HOUR)


VOLUME = Product("AmazonSageMaker", "Cluster:VolumeUsage", Unit.GB_MONTH, r"(\.[a-z0-9]+)?")
NAT_GATEWAY = Product("AmazonEC2", "NatGateway-Hours", Unit.HOUR)
PUBLIC_ADDRESS = Product("AmazonVPC", "PublicIPv4:InUseAddress", Unit.HOUR)


def lustre(throughput_mbps_per_tib: int) -> Product:
    """A GB of FSx for Lustre on SSDs; no two deployment types have a throughput in common, so that it names the type, too."""
    return Product("AmazonFSx", f"Storage.SSD.{throughput_mbps_per_tib}", Unit.GB_MONTH)
