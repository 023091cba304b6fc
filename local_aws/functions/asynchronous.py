"""Asynchronous invocations: accept at once, retry after errors, and send the final result to a destination.

An event's age counts AWS's seconds while it waits and the host's while its function runs, so that a slow machine ages no event.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from local_aws import iam
from local_aws.clock import clock
from local_aws.functions.invocation import Invocation
from local_aws.metrics.alarms import count
from local_aws.metrics.values import Metric

Run: TypeAlias = Callable[[Any, Any, str, int], Invocation]
Find: TypeAlias = Callable[[str], Any]

_RETRY_AFTER_S = (60.0, 120.0)
_DEFAULT_RETRIES = 2
_DEFAULT_AGE_S = 6 * 3600.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Policy:
    """The retry limits of events, and the destinations of their results."""

    retries: int
    age_s: float
    on_failure: str | None
    on_success: str | None


def policy_of(function: Any) -> Policy:
    """Return the function's EventInvokeConfig, or AWS's defaults."""
    config = function.event_invoke_config[0].config if function.event_invoke_config else {}
    destinations = config.get("DestinationConfig") or {}
    return Policy(
        retries=config.get("MaximumRetryAttempts", _DEFAULT_RETRIES),
        age_s=float(config.get("MaximumEventAgeInSeconds") or _DEFAULT_AGE_S),
        on_failure=(destinations.get("OnFailure") or {}).get("Destination"),
        on_success=(destinations.get("OnSuccess") or {}).get("Destination"),
    )


class AsynchronousInvocations:
    """The accepted events that have not ended; a thread of its own delivers each."""

    def __init__(self, run: Run, find: Find) -> None:
        self._run = run
        self._find = find
        self._stopped = threading.Event()

    def accept(self, function: Any, event: Any) -> str:
        """Accept the event and return the request's id."""
        request_id = str(uuid.uuid4())
        arguments = (function.function_arn, event, request_id, self._stopped)
        threading.Thread(target=self._deliver, args=arguments, daemon=True, name=f"async-{request_id}").start()
        return request_id

    def stop(self) -> None:
        """Drop all events that wait for a retry, and start no more."""
        self._stopped.set()
        self._stopped = threading.Event()

    def _deliver(self, arn: str, event: Any, request_id: str, stopped: threading.Event) -> None:
        age, attempt = 0.0, 0
        while not stopped.is_set():
            function = self._find(arn)
            if function is None:
                _log.info("event %s is dropped: function %s is gone", request_id, arn)
                return
            if function.reserved_concurrency == 0:
                self._notify(
                    function, policy_of(function).on_failure, _not_run(function, event, request_id), "ZeroReservedConcurrency"
                )
                return
            attempt += 1
            begin = time.monotonic()
            done = self._run(function, event, request_id, attempt)
            age += time.monotonic() - begin
            policy = policy_of(function)
            if done.error is None:
                self._notify(function, policy.on_success, done, "Success")
                return
            if attempt > policy.retries:
                self._notify(function, policy.on_failure, done, "RetriesExhausted")
                return
            delay = _RETRY_AFTER_S[min(attempt, len(_RETRY_AFTER_S)) - 1]
            left = policy.age_s - age
            if clock.wait(stopped, max(0.0, min(delay, left))):
                return
            if delay > left:
                self._notify(function, policy.on_failure, done, "EventAgeExceeded")
                return
            age += delay

    def _notify(self, function: Any, destination: str | None, done: Invocation, condition: str) -> None:
        """Send the record of the result to a destination, which must be a function that the role may invoke."""
        if condition != "Success":
            name = frozenset({("FunctionName", function.function_name)})
            count(Metric(function.account_id, function.region, "AWS/Lambda", "AsyncEventsDropped", name))
        if destination is None:
            return
        target = self._find(destination)
        if target is None:
            _log.error("destination %s of %s is not a function of the embedded AWS", destination, done.arn)
            return
        if not iam.role_allows(function.account_id, function.role, "lambda:InvokeFunction", destination):
            _log.error("the role of %s may not invoke its destination %s", done.arn, destination)
            return
        self.accept(target, record_of(done, condition))


def _not_run(function: Any, event: Any, request_id: str) -> Invocation:
    """Return the invocation of a function that may not run at all."""
    name, arn = function.function_name, function.function_arn
    return Invocation(name, arn, request_id, event, payload=None, error=None, seconds=0, attempt=0, log="")


def record_of(done: Invocation, condition: str) -> dict[str, Any]:
    """Return the record that Lambda sends to a destination about an event's last attempt."""
    context = {"statusCode": 200, "executedVersion": "$LATEST"}
    return {
        "version": "1.0",
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "requestContext": {
            "requestId": done.request_id,
            "functionArn": f"{done.arn}:$LATEST",
            "condition": condition,
            "approximateInvokeCount": done.attempt,
        },
        "requestPayload": done.event,
        "responseContext": {**context, "functionError": done.error} if done.error else context,
        "responsePayload": done.payload,
    }
