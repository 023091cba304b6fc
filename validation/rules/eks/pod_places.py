"""Check that the nodes have places for the pods of add-ons and of jobs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cluster_request.effective_request import EffectiveRequest, GroupMember
from cluster_request.eks_addons import Addon, addons_after_nodes, all_addons, pods_of
from cluster_request.kubernetes_objects.dependencies import own_objects
from cluster_request.kubernetes_objects.device_plugins import tolerations
from config.errors import ABSENT, Level, Problem
from config.instance_types import instance_type, listed_types
from config.model import eks_of
from config.suggestions import either
from validation.rules.eks.nodes import reserved_prefix
from validation.rules.registry import FILE_SYSTEMS, eks_request_rule

NEEDED = ("instance_groups", "overrides", "eks", *FILE_SYSTEMS)
FOR_JOBS = 2  # a pod that trains, and one that starts or watches it


class _Places(NamedTuple):
    group: GroupMember
    nodes: int
    type_name: str
    places: int  # for pods on each node
    daemons: int  # pods of DaemonSets on each node

    @property
    def left(self) -> int:
        return self.nodes * max(self.places - self.daemons, 0)


@eks_request_rule("nodes-for-addons", *NEEDED, level=Level.WARNING)
def nodes_for_addons(request: EffectiveRequest) -> Iterator[Problem]:
    """A group without NoSchedule and NoExecute taints should have nodes, on which add-ons run.

    An add-on whose pods tolerate no taint stays DEGRADED, and its deployment fails.
    """
    populated = [each for each in request.groups if each.group.instance_count]
    waiting = [one.name for one in addons_after_nodes(request.config) if not any(_accepts(each, one) for each in populated)]
    if waiting and not populated and eks_of(request.config).autoscaling:  # otherwise cluster-without-nodes reports it
        fix = "set instance_count in a group that Karpenter does not scale"
        yield Problem(("instance_groups",), ABSENT, "add-ons cannot run without nodes", fix)
    elif waiting and populated:
        message = f"no group accepts pods of {either(waiting)}"
        fix = "add one without taints, or set `configuration` of the add-ons"
        yield populated[0].member("KubernetesConfig", "Taints").problem(message, fix, ABSENT)


@eks_request_rule("pod-capacity", *NEEDED)
def pod_capacity(request: EffectiveRequest) -> Iterator[Problem]:
    """The nodes must have places for the pods of HyperPod's objects and of all add-ons.

    A node runs one pod for each address of its network interface except the first. Pods without a place stay Pending, and their
    add-on DEGRADED.
    """
    counted, addons = _counted(request), all_addons(request.config)
    full = [each for each in counted if each.daemons > each.places]
    yield from (_problem(each, f"a node can run {each.places} pods, but DaemonSets have {each.daemons} on it") for each in full)
    if full or eks_of(request.config).existing:  # other nodes of an existing EKS cluster may run add-ons
        return
    demands = [
        (pods_of(one), {each.group.name for each in counted if each.nodes and _accepts(each.group, one)}) for one in addons
    ]
    sets: list[set[str]] = [names for _, names in demands]
    for chosen in sorted([*sets, set().union(*sets)], key=len):
        groups = [each for each in counted if each.group.name in chosen]
        needed = sum(pods for pods, names in demands if names and names <= chosen)  # nodes-for-addons reports the others
        if needed > sum(each.left for each in groups):
            yield _problem(groups[0], f"{_in_words(groups)}, but add-ons have {needed} other pods", ", or more nodes")
            return


@eks_request_rule("pod-capacity-for-jobs", *NEEDED, level=Level.WARNING)
def pod_capacity_for_jobs(request: EffectiveRequest) -> Iterator[Problem]:
    """Each node should also have places for two pods of jobs.

    DaemonSets and add-ons take most places of small types: jobs stay Pending on nodes with unused GPUs.
    """
    if any(pod_capacity(request)):
        return
    counted, eks = _counted(request), eks_of(request.config)
    small = [each for each in counted if each.places - each.daemons < FOR_JOBS]
    yield from (_problem(each, f"a node can run {each.places} pods, and DaemonSets have {each.daemons} on it") for each in small)
    total, nodes = sum(map(pods_of, all_addons(request.config))), sum(each.nodes for each in counted)
    left = sum(each.left for each in counted) - total
    if nodes and left < nodes * FOR_JOBS and not (small or eks.existing or eks.autoscaling):
        message = f"{_in_words(counted)}, and add-ons have {total} other pods: {left} places are left for jobs"
        yield _problem(counted[0], message, ", or more nodes")


def _accepts(group: GroupMember, addon: Addon) -> bool:
    """Return whether the nodes accept the add-on's pods, by taints and labels; they have all labels of Kubernetes and AWS."""
    if tolerations(taint for _, taint in group.taints()) and "tolerations" not in json.dumps(addon.configuration):
        return False
    selector, labels = addon.configuration.get("nodeSelector"), group.member("KubernetesConfig", "Labels")
    own = {"sagemaker.amazonaws.com/instance-group-name": [group.name], "node.kubernetes.io/instance-type": group.type_names()}
    return all(
        value in own[key] if key in own else reserved_prefix(key) or labels.member(key).value == value
        for key, value in (selector.items() if isinstance(selector, Mapping) else ())
    )


def _counted(request: EffectiveRequest) -> list[_Places]:
    """Return for each group the places on a node of the type that leaves the fewest; nothing with unknown types."""
    objects = own_objects(request.config, "us-east-1")  # in each Region, for the same types
    own = str([each["spec"]["template"]["spec"]["affinity"] for each in objects if each["kind"] == "DaemonSet"])
    counted = []
    for group in request.groups:
        known = {name: one.pods for name, one in group.known_types().items()}
        if not known or len(known) < len(group.type_names()):
            return []
        daemons = {name: own.count(f"'{name}'") + sum(pods_of(one, name) for one in all_addons(request.config)) for name in known}
        name = min(known, key=lambda name: known[name] - daemons[name])
        counted.append(_Places(group, group.group.instance_count, name, known[name], daemons[name]))
    return counted


def _in_words(groups: Sequence[_Places]) -> str:
    listed = ", ".join(f"{each.group.name} {each.nodes} x ({each.places} - {each.daemons})" for each in groups if each.nodes)
    places, left = sum(each.places * each.nodes for each in groups), sum(each.left for each in groups)
    return f"nodes can run {places} pods, {left} of them beside DaemonSets: {listed}"


def _problem(each: _Places, message: str, other_fix: str = "") -> Problem:
    """Return the problem of a group's type, with the smallest type of the same family whose nodes can run more pods."""
    family, least = each.type_name.rpartition(".")[0] + ".", max(each.places, each.daemons + FOR_JOBS)
    listed = ((known, name) for name in listed_types() if name.startswith(family) and (known := instance_type(name)))
    larger = [(known.pods, known.vcpus, name) for known, name in listed if known.pods > least]
    fix = f"use a larger type, e.g. {min(larger)[2]}" if larger else "use a type with more addresses"
    member = next(member for member in each.group.instance_types() if member.text == each.type_name)
    return member.problem(message, f"{fix}{other_fix}")
