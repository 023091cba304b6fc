"""The delivery of an event to a function or topic: retry while the target's API refuses, or record the loss."""

import json
import logging
import threading
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import ClientError

from local_aws import faults, iam
from local_aws.clock import clock
from local_aws.credentials import service_keys
from local_aws.events.inputs import input_for

_SERVICE = "events.amazonaws.com"
_MOST_ATTEMPTS = 185
_MOST_AGE_S = 24 * 3600.0
_FIRST_DELAY_S, _MOST_DELAY_S = 10.0, 900.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Delivery:
    """An event and the rule's target that it goes to."""

    account: str
    rule_arn: str
    target: dict[str, Any]
    event: dict[str, Any]


class _LostError(Exception):
    """The event cannot be delivered."""


_lock = threading.Lock()
_clients: dict[str, Any] = {}
_outcomes: dict[str, dict[str, str]] = {}
_stopped = threading.Event()
_endpoint = ""


def use(endpoint: str) -> None:
    """Deliver to the functions and topics at ``endpoint``."""
    global _endpoint  # noqa: PLW0603  one server per process
    _endpoint = endpoint


def delivers(arn: str) -> bool:
    """Return whether this module delivers to the target."""
    return arn.split(":")[2] in ("lambda", "sns")


def start(delivery: Delivery) -> None:
    """Start the delivery in the background."""
    name = f"event-{delivery.event['id']}"
    threading.Thread(target=_deliver, args=(delivery, _stopped), daemon=True, name=name).start()


def outcomes(event_id: str) -> dict[str, str]:
    """Return the result of the event per target: `delivered`, or `lost` and why."""
    return dict(_outcomes.get(event_id, {}))


def reset() -> None:
    """Cancel pending deliveries."""
    global _stopped  # noqa: PLW0603  a new one per start
    _stopped.set()
    _stopped = threading.Event()
    with _lock:
        _clients.clear()
        _outcomes.clear()


def _deliver(delivery: Delivery, stopped: threading.Event) -> None:
    arn = delivery.target["Arn"]
    try:
        _send_until_taken(delivery, stopped)
        outcome = "delivered"
    except _LostError as lost:
        outcome = f"lost: {lost}"
        _log.warning("event %s not delivered to %s: %s", delivery.event["id"], arn, lost)
    if not stopped.is_set():
        with _lock:
            _outcomes.setdefault(delivery.event["id"], {})[arn] = outcome


def _send_until_taken(delivery: Delivery, stopped: threading.Event) -> None:
    if faults.take("events:Deliver", "lose", target=json.dumps(delivery.event)):
        raise _LostError("injected fault")
    policy = delivery.target.get("RetryPolicy") or {}
    end = clock.seconds() + policy.get("MaximumEventAgeInSeconds", _MOST_AGE_S)
    delay = _FIRST_DELAY_S
    for attempts_left in range(policy.get("MaximumRetryAttempts", _MOST_ATTEMPTS), -1, -1):
        refusal = _send(delivery)
        if refusal is None:
            return
        if not attempts_left or clock.seconds() + delay > end or clock.wait(stopped, delay):
            raise _LostError(refusal)
        delay = min(2 * delay, _MOST_DELAY_S)


def _send(delivery: Delivery) -> str | None:
    """Send the event once; return the text of a temporary error."""
    arn = delivery.target["Arn"]
    payload = input_for(delivery.target, delivery.event, delivery.rule_arn)
    try:
        if ":lambda:" in arn:
            _invoke(delivery, arn, json.dumps(payload))
        else:
            _publish(delivery, arn, payload if isinstance(payload, str) else json.dumps(payload))
    except ClientError as error:
        if error.response["Error"]["Code"] in ("ResourceNotFoundException", "NotFound"):
            raise _LostError(str(error)) from error
        return str(error)
    return None


def _invoke(delivery: Delivery, arn: str, payload: str) -> None:
    if not iam.service_may(delivery.account, _SERVICE, "lambda:InvokeFunction", arn, _source(delivery)):
        raise _LostError(f"the function's policy does not allow {_SERVICE} to invoke it from {delivery.rule_arn}")
    _client("lambda", arn.split(":")[3]).invoke(FunctionName=arn, InvocationType="Event", Payload=payload)


def _publish(delivery: Delivery, arn: str, message: str) -> None:
    topic = _client("sns", arn.split(":")[3])
    topic.get_topic_attributes(TopicArn=arn)  # raises NotFound
    if not iam.service_may_publish(delivery.account, _SERVICE, arn, _source(delivery)):
        raise _LostError(f"the policy of the topic or of its key does not allow {_SERVICE} to publish from {delivery.rule_arn}")
    topic.publish(TopicArn=arn, Message=message)


def _source(delivery: Delivery) -> dict[str, str]:
    return {"aws:SourceArn": delivery.rule_arn, "aws:SourceAccount": delivery.account}


def _client(service: str, region: str) -> Any:
    key = f"{service} {region}"
    with _lock:
        if key not in _clients:
            _clients[key] = boto3.client(service, region_name=region, endpoint_url=_endpoint, **service_keys("events"))
        return _clients[key]
