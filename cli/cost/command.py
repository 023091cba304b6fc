"""`./hpod cost`: what the cluster of a file costs per hour and per month, before it is deployed."""

from pathlib import Path

from cli.cluster_files import checked
from cli.cost.charges import Charge, charges_of
from cli.cost.document import as_json
from cli.cost.estimate import Estimate, Line, lines_of
from cli.cost.notes import notes_on
from cli.cost.table import TABLE, read_table, save_table
from cli.cost.text import as_text
from cli.errors import OpsError
from config.model import ClusterConfig
from config.zones import region_of_zone
from validation.load import usable

FORMATS = {"text": as_text, "json": as_json}


def cost(*, clusters: Path, file: str, format: str, live: bool, prices: Path | None, save: Path | None) -> str:
    """The estimate, in the format."""
    if save and not live:
        raise OpsError("--save writes the prices that --live asks for; give both")
    if prices and live:
        raise OpsError("--prices takes the prices from a file, and --live asks for them; give one of both")
    config = _config(file, clusters)
    region = _region(config)
    charges = charges_of(config)
    lines = _asked(charges, region) if live else lines_of(charges, region, read_table(prices or TABLE).price)
    if save:
        save_table(save, region, lines)
    return FORMATS[format](Estimate(file, config.name, region, lines, tuple(notes_on(config)), is_offline=not live))


def _config(file: str, clusters: Path) -> ClusterConfig:
    return usable(checked(clusters, [file]))[0]


def _region(config: ClusterConfig) -> str:
    """The file's region, or that of its zone."""
    region = config.region or region_of_zone(config.network.availability_zone_id)
    if region is None:
        raise OpsError(f"nothing says which region {config.network.availability_zone_id} is in; add `region` to the file")
    return region


def _asked(charges: list[Charge], region: str) -> tuple[Line, ...]:
    from cli.cost.live import live_lines  # noqa: PLC0415  imports boto3, which a table does not need

    return live_lines(charges, region)
