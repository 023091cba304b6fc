"""Add to the Reason what logs, node states and cluster events show about failed nodes.

What cannot be read is left out, with the missing permission; nothing here can prevent the response.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource import reasons
from cluster_resource.aws_api import ApiError, Kind, api_errors
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.decision import Memory
from cluster_resource.event import CLUSTER, CLUSTER_TAG, ClusterProperties, Event, Json
from cluster_resource.log import log
from cluster_resource.observed import Cluster, core
from cluster_resource.response import fits, fitting

SCRIPTS = "LifecycleConfig/"
STREAM = r"LifecycleConfig/[^/\s'\"]+/i-[0-9a-f]+"
INSTANCE = r"\bi-[0-9a-f]{8,17}\b"
MAX_STREAMS = 6
MAX_LINES = 20
MAX_LENGTH = 1200
CALL_S = 45
"""How long a SageMaker call takes at most, with its retry."""

LOG_CALL_S = 20
"""The same for one log stream: two calls of at most 8 s, and the creation of the client."""

SECRETS = (
    (r"(?i)(https?://[^\s?\"']+)\?[^\s\"']*(?:X-Amz-|Signature=)[^\s\"']*", r"\1?***"),
    (r"(://[^\s:/@]+:)[^\s@/]+(?=@)", r"\1***"),
    (
        r"(?i)((?:password|passwd|secret|\btoken(?!s)|[-_a-z]token(?!s)|api_?key|storagepass)\w*[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&]+)",
        r"\1***",
    ),
    (r"(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{4,}", r"\1***"),
    (r"(?i)(\bmysql\w*\b.*?\s-p|\bdocker\s+login\b.*?\s-p\s*|\bwandb\s+login\s+)[^\s-]\S*", r"\1***"),
    (r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\bsk-[\w-]{16,}", "***"),
    (r"(?i)(--(?:password|token|secret|api-?key)\S*\s+)\S+", r"\1***"),
    (r"\b(?:hf_|ghp_|gho_|github_pat_|glpat-|nvapi-|xox[bp]-|AKIA|ASIA)[\w-]+", "***"),
)
UNPRINTABLE = r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"


class Findings(NamedTuple):
    """Facts about failed nodes, and the log stream of one node with its last lines."""

    stream: str = ""
    facts: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def with_diagnostics(event: Event, response: Json, cluster: Cluster, found: Findings, *, is_late: bool = False) -> Json:
    """Return the response with the findings in its Reason.

    To fit the size limit, the oldest log lines go first, then facts, then the end of the Reason; the command stays.
    """
    reason, where = str(response["Reason"]), log_commands(cluster, found.stream)
    known = "\n".join([reason, *found.facts])
    found = found._replace(lines=tuple(line for line in found.lines if core(line.removeprefix("[SageMaker] ")) not in known))
    reason = _with_fixes(event, reason, cluster, found, is_late=is_late)
    for kept in range(len(found.lines), 0, -1):
        log = f"last lines of {found.stream}:"
        text = "\n".join([reason, *found.facts, where, log, *found.lines[-kept:]])
        if fits(event, response, text):
            return {**response, "Reason": text}
    for kept in range(len(found.facts), 0, -1):
        text = "\n".join([reason, *found.facts[:kept], where])
        if fits(event, response, text):
            return {**response, "Reason": text}
    return {**response, "Reason": fitting(event, response, reason, f"\n{where}")}


def _with_fixes(event: Event, reason: str, cluster: Cluster, found: Findings, *, is_late: bool) -> str:
    """Return the reason with what to do about it, also if only the events or the log show it."""
    zone = ClusterProperties.of(event.properties).zone if event.resource_type == CLUSTER else ""
    failures = [line for line in found.lines if "lifecycle script failed: " in line]
    fixes = reasons.fixes(cluster, zone, "\n".join([reason, *found.facts, *failures]), is_late=is_late)
    return "; ".join([reason, *(fix for fix in fixes if fix.partition(" for ")[0] not in reason)])


def log_commands(cluster: Cluster, stream: str) -> str:
    """Return the commands that show the logs of the cluster's nodes, or of one node."""
    region = cluster.arn.split(":")[3]
    which = f"--log-stream-names {stream}" if stream else f"--log-stream-name-prefix {SCRIPTS}"
    command = f"aws logs tail {log_group(cluster)} {which} --since 1d --region {region}"
    file = cluster.tags.get(CLUSTER_TAG)
    node = f" {stream.rsplit('/', 1)[-1]}" if stream else ""
    return f"read the logs: {command}" + (f"; or: ./hpod logs {file}{node}" if file else "")


def log_group(cluster: Cluster) -> str:
    """Return HyperPod's log group of the cluster."""
    return f"/aws/sagemaker/Clusters/{cluster.name}/{cluster.id}"


def log_streams(cluster: Cluster, memory: Memory, facts: Iterable[str]) -> list[str]:
    """Return the log streams that may show the cause: of nodes in messages, then of failed nodes, else of others.

    A message names an instance without its group. The instance may be deleted, and so may its group if an update that added it
    was rolled back.
    """
    nodes = cluster.nodes or ()
    message = memory.failure or (cluster.failure if cluster.failure != memory.old_failure else "")
    texts = "\n".join([message, *facts])
    found = re.findall(STREAM, texts)
    groups = {node.id: [node.group] for node in nodes}
    every = dict.fromkeys([*(group.name for group in cluster.groups), *memory.targets])
    for instance in dict.fromkeys(re.findall(INSTANCE, texts)):
        likeliest = sorted(groups.get(instance, every), key=lambda name: name not in texts)
        found += [f"{SCRIPTS}{name}/{instance}" for name in likeliest]
    failed = [node for node in nodes if node.has_failed]
    found += [f"{SCRIPTS}{node.group}/{node.id}" for node in failed or nodes if node.status != "Running"]
    return list(dict.fromkeys(found))[:MAX_STREAMS]


class Diagnostics:
    """Reads events and logs while the function has time left."""

    def __init__(self, logs: Callable[[], Any], seconds_left: Callable[[], float]) -> None:
        self._logs = logs
        self._seconds_left = seconds_left

    def collect(self, api: ClusterApi, cluster: Cluster, memory: Memory, begin: datetime, known: str) -> Findings:
        """Return the findings that are not ``known``; never raise. Events from before ``begin`` are about earlier requests."""
        try:
            return self._collect(api, cluster, memory, begin, known)
        except Exception as error:  # noqa: BLE001  no error may prevent the response
            log("no diagnostics of the nodes", error=repr(error))
            return Findings()

    def log(self, cluster: Cluster, stream: str) -> list[str]:
        """Return the last lines of a log stream; none if it does not exist or cannot be read now."""
        return self._log(cluster, [stream], [])[1]

    def _collect(self, api: ClusterApi, cluster: Cluster, memory: Memory, begin: datetime, known: str) -> Findings:
        facts: list[str] = []
        if cluster.is_continuous:
            self._events(api, cluster, begin, known, facts)
        stream, lines = self._log(cluster, log_streams(cluster, memory, facts), facts)
        return Findings(stream, tuple(facts), tuple(lines))

    def _has_time(self, seconds: float) -> bool:
        return self._seconds_left() > seconds

    def _events(self, api: ClusterApi, cluster: Cluster, begin: datetime, known: str, facts: list[str]) -> None:
        try:
            for text in api.failures(cluster.name, begin, lambda: self._has_time(CALL_S), known):
                facts.append(sanitize(f"cluster event: {text}"))  # noqa: PERF401  keep earlier events if the next call fails
        except ApiError as error:
            facts.append(_not_readable(error, "sagemaker", "the cluster's events"))

    def _log(self, cluster: Cluster, streams: list[str], facts: list[str]) -> tuple[str, list[str]]:
        """Return the first of ``streams`` that exists, and its last lines."""
        client = self._logs() if streams else None
        for stream in streams:
            if not self._has_time(LOG_CALL_S):
                return "", []
            try:
                return stream, _last_lines(client, log_group(cluster), stream)
            except ApiError as error:
                if error.kind is not Kind.ABSENT:
                    facts.append(_not_readable(error, "logs", "the node's log"))
                    return stream, []
        if streams:
            facts.append("the node wrote no log: its lifecycle script did not start, or its role is not allowed to write logs")
        return "", []


def _last_lines(client: Any, group: str, stream: str) -> list[str]:
    """Return the end of a stream; a page can be empty although earlier events exist."""
    page: Json = {}
    for _ in range(2):
        more = {"nextToken": page["nextBackwardToken"]} if page else {}
        with api_errors("GetLogEvents"):
            page = client.get_log_events(logGroupName=group, logStreamName=stream, limit=MAX_LINES, startFromHead=False, **more)
        if page["events"]:
            break
    return _tail(event["message"] for event in page["events"])


def _tail(messages: Iterable[str]) -> list[str]:
    lines = [sanitize(line) for message in messages for line in message.splitlines()]
    return [line for line in lines if line][-MAX_LINES:]


def sanitize(text: str) -> str:
    """Return ``text`` in one line, without control characters and likely secrets."""
    text = re.sub(UNPRINTABLE, "", " ".join(text.splitlines())).strip()
    for pattern, instead in SECRETS:
        text = re.sub(pattern, instead, text)
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 3] + "..."


def _not_readable(error: ApiError, service: str, what: str) -> str:
    if error.kind is Kind.DENIED:
        return f"{what} could not be read: the step function's role must allow {service}:{error.operation}"
    return f"{what} could not be read: {error.operation}: {error.code}"
