"""Check SageMaker's quotas for the file's instances."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from botocore.exceptions import ClientError

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, Outcome, is_denied, not_answered, warning
from cli.preflight.live_clusters import described, has_own_name, instances
from cli.preflight.quotas import Quotas
from cluster_request.effective_request import Group

# Names as in Service Quotas; for their meaning, see
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
OF_A_TYPE = {False: "{} for cluster usage", True: "{} for cluster spot instance usage"}
OF_ALL = {
    False: "Total number of instances allowed across SageMaker HyperPod clusters",
    True: "Total number of Spot instances allowed across SageMaker HyperPod clusters",
}
OF_A_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
OF_A_VOLUME = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"

Doubt = Callable[[Group], bool]
MIXED: tuple[str, Doubt] = ("a group may get only nodes of other types", lambda group: len(group.types) > 1)
PLANNED: tuple[str, Doubt] = (
    "AWS does not say whether a training plan's instances count",
    lambda group: bool(group.training_plan),
)


def instance_quotas(account: Account) -> Iterator[CheckResult]:
    """Check the quotas for each type and in total, with the instances of other clusters."""
    quotas = Quotas(account, "sagemaker")
    wanted = account.request.all_groups
    others: list[dict[str, Any]] | None = None
    try:
        others = [each for each in described(account) if not has_own_name(account, each)]
    except ClientError as failure:
        if not is_denied(failure):
            raise
        yield not_answered(failure)
    for spot in (False, True):
        mine = tuple(group for group in wanted if group.is_spot is spot)
        if mine:
            yield from _of_kind(quotas, mine, None if others is None else instances(others, spot=spot), spot=spot)
    yield quotas.judged(OF_A_CLUSTER, asked=sum(group.count for group in wanted), used=0)
    volumes = (volume.member("VolumeSizeInGB").number for group in wanted for volume in group.volumes)
    sizes = [size for size in volumes if size is not None]
    if sizes:
        yield quotas.judged(OF_A_VOLUME, asked=max(sizes), used=0)


def _of_kind(quotas: Quotas, wanted: tuple[Group, ...], used: Counter[str] | None, *, spot: bool) -> Iterator[CheckResult]:
    """Check each type and the total; ``used`` is None if the caller may not list clusters."""
    for name in sorted({name for group in wanted for name in group.types}):
        takers = [group for group in wanted if name in group.types]
        yield _judged(quotas, OF_A_TYPE[spot].format(name), takers, None if used is None else used[name], (MIXED, PLANNED))
    yield _judged(quotas, OF_ALL[spot], wanted, None if used is None else used.total(), (PLANNED,))


def _judged(
    quotas: Quotas, name: str, takers: Sequence[Group], used: float | None, doubts: Sequence[tuple[str, Doubt]]
) -> CheckResult:
    """Check the quota for these groups; only warn if it suffices for those that certainly count against it."""
    judged = quotas.judged(name, asked=sum(group.count for group in takers), used=used, of_others=True)
    reasons = [why for why, holds in doubts if any(holds(group) for group in takers)]
    if judged.outcome is not Outcome.ERROR or not reasons:
        return judged
    certain = sum(group.count for group in takers if not any(holds(group) for _, holds in doubts))
    if certain and quotas.judged(name, asked=certain, used=used, of_others=True).outcome is Outcome.ERROR:
        return judged
    return warning(f"{judged.message} ({'; '.join(reasons)})", judged.fix, judged.link)
