"""Write config/data/zones.json: `python -m tools.zone_table > config/data/zones.json`. Development only: read moto's data."""

import gzip
import json
import re
from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files

from botocore.session import Session

from config.instance_types import accelerator, listed_types
from tools.fact_table import print_table

OFFERINGS = "ec2/resources/instance_type_offerings/availability-zone-id"


def zones() -> dict[str, list[str]]:
    """Return the zone ids of every region with SageMaker; an empty list if moto does not know them."""
    session = Session()
    partitions = session.get_available_partitions()
    names = {name for partition in partitions for name in session.get_available_regions("sagemaker", partition)}
    return {name: _zones_of(name) for name in sorted(names)}


def _zones_of(region: str) -> list[str]:
    return sorted({zone for zone, _ in _offers(region)})


def _offers(region: str) -> set[tuple[str, str]]:
    """Return the pairs of a zone id and a type that EC2 offers there."""
    file = files("moto").joinpath(f"{OFFERINGS}/{region}.json.gz")
    offers = json.loads(gzip.decompress(file.read_bytes())) if file.is_file() else []
    return {(offer["Location"], f"ml.{offer['InstanceType']}") for offer in offers}


def offerings(regions: Iterable[str]) -> list[dict[str, list[str]]]:
    """Return the zones of each accelerated type, with the types together that have the same zones."""
    accelerated = {name for name in listed_types() if accelerator(name)}
    zones: dict[str, list[str]] = {}
    for zone, name in sorted(offer for region in regions for offer in _offers(region)):
        if name in accelerated:
            zones.setdefault(name, []).append(zone)
    types: dict[tuple[str, ...], list[str]] = {}
    for name, where in sorted(zones.items()):
        types.setdefault(tuple(where), []).append(name)
    return [{"types": names, "zones": list(where)} for where, names in types.items()]


def table(date: str) -> dict[str, object]:
    """Return the table with its sources and date."""
    known = zones()
    return {
        "source": f"regions: botocore {version('botocore')}; zones: DescribeInstanceTypeOfferings, from moto {version('moto')}",
        "date": date,
        "zones": known,
        "accelerated_types": offerings(known),
    }


def rendered(content: dict[str, object]) -> str:
    """Return the table as JSON with one line for each region, for readable diffs."""
    return re.sub(
        r"\[[^\]]*\]",
        lambda zones: " ".join(zones[0].split()).replace("[ ", "[").replace(" ]", "]"),
        json.dumps(content, indent=2),
    )


if __name__ == "__main__":
    print_table(__doc__, table, rendered)
