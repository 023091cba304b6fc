"""Write config/data/zones.json: `python tools/zone_table.py > config/data/zones.json`. Development only: read moto's data."""

import argparse
import gzip
import json
import re
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files

from botocore.session import Session

OFFERINGS = "ec2/resources/instance_type_offerings/availability-zone-id"


def zones() -> dict[str, list[str]]:
    """Return the zone ids of every region with SageMaker; an empty list if moto does not know them."""
    session = Session()
    partitions = session.get_available_partitions()
    names = {name for partition in partitions for name in session.get_available_regions("sagemaker", partition)}
    return {name: _zones_of(name) for name in sorted(names)}


def _zones_of(region: str) -> list[str]:
    file = files("moto").joinpath(f"{OFFERINGS}/{region}.json.gz")
    if not file.is_file():
        return []
    offers = json.loads(gzip.decompress(file.read_bytes()))
    return sorted({offer["Location"] for offer in offers})


def table(date: str) -> dict[str, object]:
    """Return the table with its sources and date."""
    return {
        "source": f"regions: botocore {version('botocore')}; zones: DescribeInstanceTypeOfferings, from moto {version('moto')}",
        "date": date,
        "zones": zones(),
    }


def rendered(content: dict[str, object]) -> str:
    """Return the table as JSON with one line for each region, for readable diffs."""
    return re.sub(
        r"\[[^\]]*\]",
        lambda zones: " ".join(zones[0].split()).replace("[ ", "[").replace(" ]", "]"),
        json.dumps(content, indent=2),
    )


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--date", default=datetime.now(UTC).date().isoformat())
    print(rendered(table(arguments.parse_args().date)))  # noqa: T201  its output is the file


if __name__ == "__main__":
    main()
