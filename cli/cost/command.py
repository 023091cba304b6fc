"""`./hpod cost`: quantities per month and, with --live, dollars."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from cli.access import ENVIRONMENT, Access
from cli.cluster_files import checked
from cli.cost.charges import charges_of
from cli.cost.estimate import Estimate, as_data, as_text
from cli.errors import CommandError
from cli.result import Result
from cluster_request.eks_addons import standard_support_end
from config.model import ClusterConfig
from config.section import Removal
from config.zones import region_of_zone
from validation.load import usable

EXCLUDED = (
    "not included: charges by use, root volumes, monitoring, what already exists, taxes and discounts (docs/reference/cost.md)"
)


def cost(*, clusters: Path, cluster: str, live: bool = False, access: Access = ENVIRONMENT) -> Result:
    """Return the cluster's quantities per month, with dollars only if ``live``."""
    [file] = checked(clusters, [cluster])
    (config,) = usable([file])
    zone, charges = config.network.availability_zone_id, tuple(charges_of(config))
    region = access.region_of(config.region or region_of_zone(zone))
    if region is None:
        raise CommandError(f"no region is known for zone {zone}", "add `region` to the file")
    if live:
        from cli.cost.live import live_charges, live_session  # noqa: PLC0415  quantities need no SDK

        charges = live_charges(charges, region, live_session(config, file.name, region, access))
    estimate = Estimate(cluster, config.name, region, charges, tuple(notes_on(config)), is_live=live)
    return Result(as_data(estimate), as_text(estimate))


def notes_on(config: ClusterConfig, today: date | None = None) -> Iterator[str]:
    """Yield what the estimate leaves out, and what costs more or longer; by default of this day."""
    yield EXCLUDED
    today = today or datetime.now(UTC).date()
    if config.eks and config.creates_eks_cluster and (end := standard_support_end(config.eks.version or "")):
        cost = "the control plane costs 0.60 USD per hour, not 0.10 USD"
        ended = f"standard support of Kubernetes {config.eks.version} ended on {end}: {cost}"
        yield ended if end < today else f"after {end}, Kubernetes {config.eks.version} is in extended support: {cost}"
    kept = (
        ("file system", config.storage.retains_file_systems),
        ("EKS cluster", config.eks and config.creates_eks_cluster and config.eks.removal is Removal.RETAIN),
        ("cluster", config.removal is Removal.RETAIN),
    )
    still = "stays (`removal: retain`) and still costs the same"
    yield from (f"after `cdk destroy`, the {name} {still}" for name, is_kept in kept if is_kept)
