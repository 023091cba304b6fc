"""Check that the nodes have places for the pods of add-ons and of jobs."""

from collections.abc import Iterator, Sequence

from cluster_request.effective_request import EffectiveRequest
from cluster_request.eks_addons import Addon
from cluster_request.pod_places import GroupPlaces, counted_places, replicas
from config.errors import Level, Problem
from config.instance_types import instance_type, listed_types
from validation.rules.eks.section import eks_of
from validation.rules.registry import FILE_SYSTEMS, eks_request_rule

NEEDED = ("instance_groups", "overrides", "eks", *FILE_SYSTEMS)
FOR_JOBS = 2  # a pod that trains, and one that starts or watches it


@eks_request_rule("pod-capacity", *NEEDED)
def pod_capacity(request: EffectiveRequest) -> Iterator[Problem]:
    """The nodes must have places for the pods of HyperPod's objects and of all add-ons.

    A node runs one pod for each address of its network interface except the first. Pods without a place stay Pending, and their
    add-on DEGRADED.
    """
    addons, counted = counted_places(request)
    full = [each for each in counted if each.daemons > each.places]
    for each in full:
        yield _problem(each, f"a node can run {each.places} pods, but DaemonSets have {each.daemons} on it")
    is_new = eks_of(request.config).existing is None  # other nodes of an existing EKS cluster may run add-ons
    if is_new and not full and (short := _shortage(counted, addons)):
        groups, needed = short
        yield _problem(groups[0], f"{_in_words(groups)}, but add-ons have {needed} other pods", "more nodes")


@eks_request_rule("pod-capacity-for-jobs", *NEEDED, level=Level.WARNING)
def pod_capacity_for_jobs(request: EffectiveRequest) -> Iterator[Problem]:
    """Each node should also have places for two pods of jobs.

    DaemonSets and add-ons take most places of small types: jobs stay Pending on nodes with unused GPUs.
    """
    if any(pod_capacity(request)):
        return
    (addons, counted), eks = counted_places(request), eks_of(request.config)
    small = [each for each in counted if each.places - each.daemons < FOR_JOBS]
    for each in small:
        yield _problem(each, f"a node can run {each.places} pods, and DaemonSets have {each.daemons} on it")
    total, nodes = sum(map(replicas, addons)), sum(each.group.group.instance_count for each in counted)
    left = sum(each.left for each in counted) - total
    if nodes and left < nodes * FOR_JOBS and not (small or eks.existing or eks.autoscaling):
        message = f"{_in_words(counted)}, and add-ons have {total} other pods: {left} places are left for jobs"
        yield _problem(counted[0], message, "more nodes")


def _shortage(counted: Sequence[GroupPlaces], addons: Sequence[Addon]) -> tuple[list[GroupPlaces], int] | None:
    """Return the first groups that have fewer places than the add-ons that only they accept, and the number of those pods."""
    nodes = [each for each in counted if each.group.group.instance_count]
    demands = [(replicas(addon), {each.group.name for each in nodes if each.accepts(addon)}) for addon in addons]
    sets: list[set[str]] = [names for _, names in demands]
    for chosen in sorted([*sets, set().union(*sets)], key=len):
        groups = [each for each in nodes if each.group.name in chosen]
        needed = sum(pods for pods, names in demands if names and names <= chosen)  # nodes-for-addons reports the others
        if needed > sum(each.left for each in groups):
            return groups, needed
    return None


def _in_words(groups: Sequence[GroupPlaces]) -> str:
    counts = [(each, each.group.group.instance_count) for each in groups]
    listed = ", ".join(f"{each.group.name} {count} x ({each.places} - {each.daemons})" for each, count in counts if count)
    places, left = sum(each.places * count for each, count in counts), sum(each.left for each in groups)
    return f"nodes can run {places} pods, {left} of them beside DaemonSets: {listed}"


def _problem(each: GroupPlaces, message: str, other_fix: str = "") -> Problem:
    """Return the problem of a group's type, with the smallest type of the same family whose nodes can run more pods."""
    family, least = each.type_name.rpartition(".")[0] + ".", max(each.places, each.daemons + FOR_JOBS)
    listed = ((known, name) for name in listed_types() if name.startswith(family) and (known := instance_type(name)))
    larger = [(known.pods, known.vcpus, name) for known, name in listed if known.pods > least]
    fix = f"use a larger type, e.g. {min(larger)[2]}" if larger else "use a type with more addresses"
    member = next(member for member in each.group.instance_types() if member.text == each.type_name)
    return member.problem(f"{message}; {fix}{f', or {other_fix}' if other_fix else ''}")
