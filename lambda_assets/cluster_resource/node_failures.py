"""End the wait for nodes whose lifecycle scripts cannot succeed (docs/troubleshoot/failures.md, How long it takes)."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from cluster_resource.aws_api import ApiError
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.deadline import Clock
from cluster_resource.decision import Decision, Fail
from cluster_resource.diagnostics import SCRIPTS, Diagnostics
from cluster_resource.observed import Cluster

FAILED = re.compile(r"lifecycle script failed: (?:step '(?P<step>.+?)': )?")
NEXT_ATTEMPT = "the next attempt may succeed: "
"""In the line before it, if so; lifecycle_assets/hyperpod_node/retry.py writes it."""

ALONE_S = 9 * 60
"""How long only one node may fail. The next step comes before 10 minutes are over."""

MAX_NODES = 4
"""Nodes of a group whose log a step reads."""


class Failure(NamedTuple):
    """A node whose lifecycle scripts failed."""

    instance: str
    at: datetime
    step: str
    is_outside: bool
    text: str


def end_if_hopeless(
    waiting: Decision, cluster: Cluster, groups: Collection[str], clock: Clock, *, api: ClusterApi, diagnostics: Diagnostics
) -> Decision:
    """Return FAILED if the scripts of the new nodes of one of ``groups`` cannot succeed, else ``waiting``."""
    try:
        failed = _failed_instances(cluster, clock.started, api)
    except ApiError:
        return waiting  # the next step reads the events again
    for group, instances in failed.items():
        observed = cluster.group(group)
        if observed and group in groups:
            failures = _failures(cluster, group, instances, diagnostics)
            if hopeless := _hopeless(failures, clock.now, is_only_node=observed.target == 1):
                names = " and ".join(f"node {each.instance}" for each in hopeless[:2])
                reason = f"{names} of {group}: {hopeless[0].text}"
                return Decision(Fail(reason, diagnose=True), waiting.memory._replace(failure=reason))
    return waiting


def _failed_instances(cluster: Cluster, begin: datetime, api: ClusterApi) -> dict[str, dict[str, datetime]]:
    """Return the first failure of each node that does not run and is not older than the request, by group."""
    nodes = cluster.nodes or ()
    others = {(node.group, node.id) for node in nodes if node.status == "Running" or (node.launched or begin) < begin}
    found: dict[str, dict[str, datetime]] = defaultdict(dict)
    for group, instance, at in api.failed_instances(cluster.name, begin):
        if (group, instance) not in others:
            found[group][instance] = min(at, found[group].get(instance, at))
    return found


def _failures(cluster: Cluster, group: str, instances: dict[str, datetime], diagnostics: Diagnostics) -> Iterator[Failure]:
    """Yield the failures of lifecycle scripts, oldest first."""
    for instance in sorted(instances, key=instances.__getitem__)[:MAX_NODES]:
        failure, before = None, ""
        for line in diagnostics.log(cluster, f"{SCRIPTS}{group}/{instance}"):
            if match := FAILED.search(line):
                text = line[match.start() :]
                is_outside = NEXT_ATTEMPT in before or (failure is not None and failure.is_outside and failure.text == text)
                failure = Failure(instance, instances[instance], match["step"] or "", is_outside, text)
            before = line
        if failure:
            yield failure


def _hopeless(failures: Iterable[Failure], now: datetime, *, is_only_node: bool) -> list[Failure]:
    """Return the failures in one step that will repeat: of two nodes, or of one whose own scripts fail."""
    steps: dict[str, list[Failure]] = defaultdict(list)
    for each in failures:
        steps[each.step].append(each)
    for found in steps.values():
        is_old = (now - found[0].at).total_seconds() >= ALONE_S
        if len(found) > 1 or (not found[0].is_outside and (is_only_node or is_old)):
            return found
    return []
