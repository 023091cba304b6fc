"""Check compute quotas of teams and the scheduling between them."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from config.entries import numbered, repeated
from config.errors import ABSENT, Level, Path, Problem
from config.instance_types import accelerator, instance_type
from config.model import ClusterConfig, eks_of
from config.suggestions import nearest
from config.teams import QuotaResource, Sharing, TeamQuota
from validation.rules.registry import eks_request_rule, eks_rule

WORDS = {"accelerators": "accelerators", "vcpus": "vCPUs", "memory_gib": "GiB of memory"}
PARTS = tuple(WORDS)


def _quotas(config: ClusterConfig) -> Iterator[tuple[Path, TeamQuota]]:
    for index, team in numbered(eks_of(config).teams):
        if team.quota:
            yield ("eks", "teams", index, "quota"), team.quota


def _resources(config: ClusterConfig) -> Iterator[tuple[Path, QuotaResource]]:
    for path, quota in _quotas(config):
        yield from (((*path, "resources", place), each) for place, each in enumerate(quota.resources))


@eks_rule("quota-amounts", "eks.teams[]")
def quota_amounts(config: ClusterConfig) -> Iterator[Problem]:
    """A quota's resource requires `count`, or parts of instances: `accelerators`, `vcpus` and `memory_gib`.

    HyperPod rejects both, and neither.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ComputeQuotaResourceConfig.html
    for path, each in _resources(config):
        parts = [name for name in PARTS if getattr(each, name) is not None]
        if each.count is not None and parts:
            yield Problem((*path, parts[0]), getattr(each, parts[0]), "excluded by `count`", "keep only one")
        elif each.count is None and not parts:
            yield Problem((*path, "count"), ABSENT, "required without parts of instances", "add the number of instances")
        if each.accelerators and instance_type(each.instance_type) and accelerator(each.instance_type) is None:
            yield Problem((*path, "accelerators"), each.accelerators, f"{each.instance_type} has no accelerators", "use `vcpus`")


@eks_rule("duplicate-quota-types", "eks.teams[]")
def duplicate_quota_types(config: ClusterConfig) -> Iterator[Problem]:
    """A quota must list each instance type once.

    HyperPod rejects duplicates.
    """
    for path, quota in _quotas(config):
        for place, name, _ in repeated((place, each.instance_type) for place, each in enumerate(quota.resources)):
            yield Problem((*path, "resources", place, "instance_type"), name, "duplicate instance type", "keep only one")


@eks_request_rule("quota-instance-types", "eks.teams[]", "instance_groups", "overrides")
def quota_instance_types(request: EffectiveRequest) -> Iterator[Problem]:
    """A quota's instance types must be those of the file's groups.

    The team would have compute that the cluster never has.
    """
    known = request.type_names()
    for path, each in _resources(request.config):
        if each.instance_type not in known:
            message = "no group has this type"
            yield Problem((*path, "instance_type"), each.instance_type, message, nearest(each.instance_type, known))


@eks_request_rule("quota-total", "eks.teams", "eks.autoscaling", "instance_groups", level=Level.WARNING)
def quota_total(request: EffectiveRequest) -> Iterator[Problem]:
    """The quotas of all teams should not reserve more instances, accelerators, vCPUs or memory than the file's groups have.

    A team cannot use a reservation without nodes, and waits although its quota is free.
    """
    if eks_of(request.config).autoscaling:
        return
    nodes = Counter[str]()
    for group in request.groups:
        nodes.update(dict.fromkeys(group.type_names(), group.group.instance_count))
    reserved = defaultdict[tuple[str, str], float](float)
    first: dict[str, tuple[Path, QuotaResource, str]] = {}
    for path, each in _resources(request.config):
        name = each.instance_type
        for unit, amount in _amounts(each).items():
            reserved[name, unit] += amount
            if name in nodes and reserved[name, unit] > nodes[name] * _whole(name)[unit]:
                first.setdefault(name, (path, each, unit))
    for name, (path, each, unit) in first.items():
        what = name if unit == "count" else f"{WORDS[unit]} of {name}"
        total = nodes[name] * _whole(name)[unit]
        message = f"teams reserve {reserved[name, unit]:.10g} of {total:.10g} {what}"
        field = unit if each.count is None else "count"
        yield Problem((*path, field), getattr(each, field), message, "reduce it, or increase instance_count")


def _whole(instance_type_name: str) -> dict[str, float]:
    """Return the amount of each unit of a quota in an instance; only `count` if its type is unknown."""
    known = instance_type(instance_type_name)
    if known is None:
        return {"count": 1}
    accelerators, memory_gib = known.gpus + known.neuron_devices, known.memory_mib / 1024
    return {"count": 1, "accelerators": accelerators, "vcpus": known.vcpus, "memory_gib": memory_gib}


def _amounts(resource: QuotaResource) -> dict[str, float]:
    """Return what a quota reserves of each unit; HyperPod adds the parts that are not given, which are not counted."""
    whole = _whole(resource.instance_type)
    if resource.count is not None:
        return {unit: resource.count * amount for unit, amount in whole.items()}
    return {unit: getattr(resource, unit) or 0 for unit in PARTS if unit in whole}


@eks_rule("quota-sharing", "eks.teams[]")
def quota_sharing(config: ClusterConfig) -> Iterator[Problem]:
    """`borrow_limit_percent` requires `sharing: LendAndBorrow`, and so do empty `resources`.

    A team that does not borrow has no limit to it, and without its own compute none at all.
    """
    for path, quota in _quotas(config):
        if quota.sharing is Sharing.LEND_AND_BORROW:
            continue
        if quota.borrow_limit_percent is not None:
            message = f"has no effect with `sharing: {quota.sharing.value}`"
            fix = "remove it, or use LendAndBorrow"
            yield Problem((*path, "borrow_limit_percent"), quota.borrow_limit_percent, message, fix)
        if not quota.resources:
            message = f"required with `sharing: {quota.sharing.value}`"
            yield Problem((*path, "resources"), ABSENT, message, "add the team's compute, or use LendAndBorrow")


@eks_rule("unused-fair-share", "eks.teams[]", "eks.scheduling", level=Level.WARNING)
def unused_fair_share(config: ClusterConfig) -> Iterator[Problem]:
    """`fair_share_weight` requires `scheduling.fair_share`.

    Without it, tasks start first come, first served.
    """
    scheduling = eks_of(config).scheduling
    for path, quota in _quotas(config):
        if quota.fair_share_weight and not (scheduling and scheduling.fair_share):
            message = "has no effect without `eks.scheduling.fair_share`"
            yield Problem((*path, "fair_share_weight"), quota.fair_share_weight, message, "add `scheduling: {}`, or remove it")


@eks_rule("unique-priorities", "eks.scheduling")
def unique_priorities(config: ClusterConfig) -> Iterator[Problem]:
    """Names of priority classes must be unique.

    HyperPod rejects duplicates.
    """
    scheduling = eks_of(config).scheduling
    classes = scheduling.priority_classes if scheduling else ()
    for index, name, first in repeated((index, each.name) for index, each in enumerate(classes)):
        path: Path = ("eks", "scheduling", "priority_classes", index, "name")
        yield Problem(path, name, f"already used by priority_classes[{first}]", "use a unique name")
