"""`./hpod cost`: what the cluster of a file uses per month and, with --live, what it costs."""

from pathlib import Path

from cli.cluster_files import checked
from cli.cost.charges import Charge, charges_of
from cli.cost.estimate import Estimate, Line
from cli.cost.notes import LIST_PRICES, notes_on
from cli.cost.render import as_data, as_text
from cli.errors import OpsError
from cli.result import Result
from config.model import ClusterConfig
from config.zones import region_of_zone
from validation.load import usable


def cost(*, clusters: Path, cluster: str, live: bool = False) -> Result:
    """Return the cluster's quantities per month, with dollars only if ``live``."""
    (config,) = usable(checked(clusters, [cluster]))
    region, charges, notes = _region(config), charges_of(config), [*notes_on(config)]
    lines = _live_lines(charges, region) if live else None
    if live:
        notes.insert(0, LIST_PRICES)
    estimate = Estimate(cluster, config.name, region, tuple(charges), tuple(notes), lines)
    return Result(as_data(estimate), as_text(estimate))


def _region(config: ClusterConfig) -> str:
    """Return the file's region, or that of its zone."""
    zone = config.network.availability_zone_id
    region = config.region or region_of_zone(zone)
    if region is None:
        raise OpsError(f"no region is known for zone {zone}; add `region` to the file")
    return region


def _live_lines(charges: list[Charge], region: str) -> tuple[Line, ...]:
    from cli.cost.live import live_lines  # noqa: PLC0415  imports boto3, which only prices need

    return live_lines(charges, region)
