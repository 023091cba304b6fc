"""`./hpod cost`: quantities per month and, with --live, dollars."""

from pathlib import Path

from cli.access import ENVIRONMENT, Access
from cli.cluster_files import checked
from cli.cost.charges import Charge, charges_of
from cli.cost.estimate import Estimate, Line
from cli.cost.notes import LIST_PRICES, notes_on
from cli.cost.render import as_data, as_text
from cli.errors import CommandError
from cli.result import Result
from config.model import ClusterConfig
from config.zones import region_of_zone
from validation.load import usable


def cost(*, clusters: Path, cluster: str, live: bool = False, access: Access = ENVIRONMENT) -> Result:
    """Return the cluster's quantities per month, with dollars only if ``live``."""
    [file] = checked(clusters, [cluster])
    (config,) = usable([file])
    region, charges, notes = _region(config, access), charges_of(config), [*notes_on(config)]
    lines = _live_lines(config, file.name, charges, region, access) if live else None
    if live:
        notes.insert(0, LIST_PRICES)
    estimate = Estimate(cluster, config.name, region, tuple(charges), tuple(notes), lines)
    return Result(as_data(estimate), as_text(estimate))


def _region(config: ClusterConfig, access: Access) -> str:
    """Return the region of the file, or of its zone."""
    zone = config.network.availability_zone_id
    region = access.region_of(config.region or region_of_zone(zone))
    if region is None:
        raise CommandError(f"no region is known for zone {zone}", "add `region` to the file")
    return region


def _live_lines(config: ClusterConfig, file: str, charges: list[Charge], region: str, access: Access) -> tuple[Line, ...]:
    from cli.cost.live import live_lines, live_session  # noqa: PLC0415  imports boto3, which only prices need

    return live_lines(charges, region, live_session(config, file, region, access))
