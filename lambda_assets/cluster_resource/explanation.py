"""Runs in Lambda. A failure of nodes told in full: where to read on, and of what was found the most telling that fits."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from cluster_resource.answer import fits, fitting
from cluster_resource.event import Event, Json
from cluster_resource.memory import Memory
from cluster_resource.observed import Cluster
from cluster_resource.ownership import CLUSTER_TAG

SCRIPTS = "LifecycleConfig/"
STREAM = r"LifecycleConfig/[^/\s'\"]+/i-[0-9a-f]+"
INSTANCE = r"\bi-[0-9a-f]{8,17}\b"
"""Patterns that only a failure needs; compiled at the first use, and not at every cold start."""
CANDIDATES = 6


class Found(NamedTuple):
    """What was found out about nodes that failed: the log stream of one, sentences, and the log's last lines."""

    stream: str = ""
    facts: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def explained(event: Event, verdict: Json, cluster: Cluster, found: Found) -> Json:
    """The verdict with a reason that fits; of what does not, the log's oldest lines go first, and the command last."""
    reason, where = str(verdict["Reason"]), where_to_read(cluster, found.stream)
    for kept in range(len(found.lines), 0, -1):
        log = f"last lines of {found.stream}:"
        text = "\n".join([reason, *found.facts, where, log, *found.lines[-kept:]])
        if fits(event, verdict, text):
            return {**verdict, "Reason": text}
    for kept in range(len(found.facts), 0, -1):
        text = "\n".join([reason, *found.facts[:kept], where])
        if fits(event, verdict, text):
            return {**verdict, "Reason": text}
    return {**verdict, "Reason": fitting(event, verdict, reason, f"\n{where}")}


def where_to_read(cluster: Cluster, stream: str) -> str:
    """The commands that show the logs of the cluster's nodes, or of the one whose stream is known."""
    region = cluster.arn.split(":")[3]
    which = f"--log-stream-names {stream}" if stream else f"--log-stream-name-prefix {SCRIPTS}"
    command = f"aws logs tail {log_group(cluster)} {which} --since 1d --region {region}"
    file = cluster.tags.get(CLUSTER_TAG)
    node = f" {stream.rsplit('/', 1)[-1]}" if stream else ""
    return f"read on: {command}" + (f"; or: ./hpod logs {file}{node}" if file else "")


def log_group(cluster: Cluster) -> str:
    """HyperPod's log group of the cluster's nodes."""
    return f"/aws/sagemaker/Clusters/{cluster.name}/{cluster.id}"


def candidates(cluster: Cluster, memory: Memory, facts: Iterable[str]) -> list[str]:
    """The log streams that may tell why, the likeliest first: of nodes that the service names, that failed, that do not run.

    The service's message names an instance without its group, and the instance is often gone by then; so is its group, when an
    update that added it was undone.
    """
    nodes = cluster.nodes or ()
    message = memory.failure or (cluster.failure if cluster.failure != memory.old_failure else "")
    said = "\n".join([message, *facts])
    found = re.findall(STREAM, said)
    groups = {node.id: [node.group] for node in nodes}
    every = dict.fromkeys([*(group.name for group in cluster.groups), *memory.targets])
    for instance in dict.fromkeys(re.findall(INSTANCE, said)):
        likeliest = sorted(groups.get(instance, every), key=lambda name: name not in said)
        found += [f"{SCRIPTS}{name}/{instance}" for name in likeliest]
    failed = [node for node in nodes if node.has_failed]
    found += [f"{SCRIPTS}{node.group}/{node.id}" for node in failed or nodes if node.status != "Running"]
    return list(dict.fromkeys(found))[:CANDIDATES]
