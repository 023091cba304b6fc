"""Runs in Lambda. Reads what became of nodes, once, when a failure is to be told: their logs, states and the cluster's events.

No healthy step pays for it: the client for logs is made here. What cannot be read is left out, and the permission named that is
missing; nothing in here can keep the verdict from going out.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from cluster_resource.cluster_api import ClusterApi, translated
from cluster_resource.errors import ApiError, Kind
from cluster_resource.event import Json
from cluster_resource.explanation import Found, candidates, log_group
from cluster_resource.log import log
from cluster_resource.memory import Memory
from cluster_resource.observed import Cluster

LINES = 20
LONGEST = 400
CALL_S = 45
"""The time that a call to SageMaker may take with its second try; a call that could outlast the function is not made."""

LOG_CALL_S = 20
"""The same of looking into one log stream: two calls of at most 8 s, and the making of the client."""

SECRETS = (
    (r"(?i)(https?://[^\s?\"']+)\?[^\s\"']*(?:X-Amz-|Signature=)[^\s\"']*", r"\1?***"),
    (r"(://[^\s:/@]+:)[^\s@/]+(?=@)", r"\1***"),
    (
        r"(?i)((?:password|passwd|secret|\btoken(?!s)|[-_a-z]token(?!s)|api_?key|storagepass)\w*[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&]+)",
        r"\1***",
    ),
    (r"(?i)(\bbearer\s+)\S+", r"\1***"),
    (r"(?i)(--(?:password|token|secret|api-?key)\S*\s+)\S+", r"\1***"),
    (r"\b(?:hf_|ghp_|gho_|github_pat_|glpat-|nvapi-|xox[bp]-|AKIA|ASIA)[\w-]+", "***"),
)
UNPRINTABLE = r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]"


class Witness:
    """Looks at a cluster's nodes with clients of its own choice, while there is time left."""

    def __init__(self, logs: Callable[[], Any], seconds_left: Callable[[], float]) -> None:
        self._logs = logs
        self._seconds_left = seconds_left

    def look(self, api: ClusterApi, cluster: Cluster, memory: Memory) -> Found:
        """All that can be found out now."""
        try:
            return self._look(api, cluster, memory)
        except Exception as error:  # noqa: BLE001  the verdict goes out, whatever a service answers here
            log("the nodes could not be looked at", error=repr(error))
            return Found()

    def _look(self, api: ClusterApi, cluster: Cluster, memory: Memory) -> Found:
        facts: list[str] = []
        if cluster.settings.get("NodeProvisioningMode") == "Continuous":
            self._events(api, cluster, facts)
        stream, lines = self._log(cluster, candidates(cluster, memory, facts), facts)
        return Found(stream, tuple(facts), tuple(lines))

    def _has_time(self, seconds: float) -> bool:
        return self._seconds_left() > seconds

    def _events(self, api: ClusterApi, cluster: Cluster, facts: list[str]) -> None:
        try:
            for text in api.failures(cluster.name, lambda: self._has_time(CALL_S)):
                facts.append(clean(f"cluster event: {text}"))  # noqa: PERF401  what was told stays where the next call fails
        except ApiError as error:
            facts.append(_unread(error, "sagemaker", "the cluster's events"))

    def _log(self, cluster: Cluster, streams: list[str], facts: list[str]) -> tuple[str, list[str]]:
        """The first of ``streams`` that there is, and its last lines."""
        client = self._logs() if streams else None
        for stream in streams:
            if not self._has_time(LOG_CALL_S):
                return "", []
            try:
                return stream, _last_lines(client, log_group(cluster), stream)
            except ApiError as error:
                if error.kind is not Kind.ABSENT:
                    facts.append(_unread(error, "logs", "the node's log"))
                    return stream, []
        if streams:
            facts.append("the node wrote no log: its lifecycle script never began, or its role may not write logs")
        return "", []


def _last_lines(client: Any, group: str, stream: str) -> list[str]:
    """The end of a stream. An answer can be empty while there are events before it."""
    page: Json = {}
    for _ in range(2):
        more = {"nextToken": page["nextBackwardToken"]} if page else {}
        with translated("GetLogEvents"):
            page = client.get_log_events(logGroupName=group, logStreamName=stream, limit=LINES, startFromHead=False, **more)
        if page["events"]:
            break
    return _tail(event["message"] for event in page["events"])


def _tail(messages: Iterable[str]) -> list[str]:
    lines = [clean(line) for message in messages for line in message.splitlines()]
    return [line for line in lines if line][-LINES:]


def clean(text: str) -> str:
    """``text`` in one line, without what a terminal would take for a command, and without what looks like a secret."""
    text = re.sub(UNPRINTABLE, "", " ".join(text.splitlines())).strip()
    for pattern, instead in SECRETS:
        text = re.sub(pattern, instead, text)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _unread(error: ApiError, service: str, what: str) -> str:
    if error.kind is Kind.DENIED:
        return f"{what} could not be read: the step function's role must allow {service}:{error.operation}"
    return f"{what} could not be read: {error.operation}: {error.code}"
