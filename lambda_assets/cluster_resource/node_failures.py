"""End the wait for nodes whose lifecycle scripts cannot succeed. Runs in Lambda.

HyperPod starts a failed node of a continuous cluster again, for hours. The end of the node's log names the step, and says whether
the node waited for something outside it. Nodes that were launched before the request run other scripts and do not count, nor do
failures before the scripts, such as their download.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cluster_resource.aws_api import ApiError
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.decision import Decision, Fail
from cluster_resource.diagnostics import SCRIPTS
from cluster_resource.observed import Cluster

FAILED = re.compile(r"lifecycle script failed: (?:step '(?P<step>.+?)': )?")
NEXT_ATTEMPT = "the next attempt may succeed: "
"""In the line before it, if so; lifecycle_assets/hyperpod_node/retry.py writes it."""

ALONE_S = 9 * 60
"""How long only one node may fail. The next step comes before 10 minutes are over."""

MAX_NODES = 4
"""Nodes of a group whose log a step reads."""

ReadLog = Callable[[str], Sequence[str]]
"""Return the last lines of a log stream; none if it cannot be read."""


class Search(NamedTuple):
    """The groups whose new nodes a request waits for, and when it began to change them."""

    cluster: Cluster
    groups: Collection[str]
    begin: datetime
    now: datetime


class Failure(NamedTuple):
    """A node whose lifecycle scripts failed."""

    instance: str
    at: datetime
    step: str
    is_outside: bool
    text: str


def end_if_hopeless(waiting: Decision, search: Search, api: ClusterApi, read_log: ReadLog) -> Decision:
    """Return FAILED if the scripts of a group cannot succeed, else ``waiting``."""
    try:
        failed = _failed_instances(search, api)
    except ApiError:
        return waiting  # the next step reads the events again
    for group, instances in failed.items():
        observed = search.cluster.group(group)
        is_only_node = observed is not None and observed.target == 1
        hopeless = _hopeless(list(_failures(group, instances, read_log)), search.now, is_only_node=is_only_node)
        if hopeless:
            reason = _reason(group, hopeless)
            return Decision(Fail(reason, diagnose=True), waiting.memory._replace(failure=reason))
    return waiting


def _failed_instances(search: Search, api: ClusterApi) -> dict[str, dict[str, datetime]]:
    """Return the first failure of each new node that does not run, by group."""
    nodes = search.cluster.nodes or ()
    begin = search.begin
    others = {(node.group, node.id) for node in nodes if node.status == "Running" or (node.launched or begin) < begin}
    found: dict[str, dict[str, datetime]] = defaultdict(dict)
    for group, instance, at in api.failed_instances(search.cluster.name, begin):
        if group in search.groups and (group, instance) not in others:
            found[group][instance] = min(at, found[group].get(instance, at))
    return found


def _failures(group: str, instances: dict[str, datetime], read_log: ReadLog) -> Iterator[Failure]:
    """Yield the failures of lifecycle scripts, oldest first."""
    for instance in sorted(instances, key=instances.__getitem__)[:MAX_NODES]:
        failure, before = None, ""
        for line in read_log(f"{SCRIPTS}{group}/{instance}"):
            if match := FAILED.search(line):
                text = line[match.start() :]
                is_outside = NEXT_ATTEMPT in before or (failure is not None and failure.is_outside and failure.text == text)
                failure = Failure(instance, instances[instance], match["step"] or "", is_outside, text)
            before = line
        if failure:
            yield failure


def _hopeless(failures: Sequence[Failure], now: datetime, *, is_only_node: bool) -> list[Failure]:
    """Return the failures in one step that will repeat: of two nodes, or of one whose own scripts fail."""
    steps: dict[str, list[Failure]] = defaultdict(list)
    for each in failures:
        steps[each.step].append(each)
    for found in steps.values():
        is_old = (now - found[0].at).total_seconds() >= ALONE_S
        if len(found) > 1 or (not found[0].is_outside and (is_only_node or is_old)):
            return found
    return []


def _reason(group: str, failures: Sequence[Failure]) -> str:
    nodes = "node" if len(failures) == 1 else "nodes"
    names = " and ".join(each.instance for each in failures[:2])
    return f"{nodes} {names} of {group}: {failures[0].text}"
