"""EventBridge: deliver events to the Lambda functions and SNS topics of rules, if their policies allow it.

Unlike AWS: schedules do not fire; dead-letter queues of targets are not used; moto handles other targets.
"""

import uuid
from collections import deque
from datetime import UTC, datetime
from typing import Any

from moto.events.models import Rule, events_backends

from local_aws import control
from local_aws.events import delivery, patterns
from local_aws.metrics import alarms
from local_aws.metrics.values import Metric

_send_to_targets = Rule.send_to_targets
_NO_MORE_THAN = 5_000  # events remembered
_record: deque[dict[str, Any]] = deque(maxlen=_NO_MORE_THAN)


def publish(account: str, region: str, *, source: str, detail_type: str, detail: dict[str, Any], resources: list[str]) -> None:
    """Publish an AWS service's event to the account's default bus."""
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": account,
        "time": _stamp(datetime.now(UTC)),
        "region": region,
        "resources": resources,
        "detail": detail,
    }
    for rule in list(events_backends[account][region].event_buses["default"].rules.values()):
        rule.send_to_targets(event)
    _record.append(event)


def _send(self: Any, original_event: dict[str, Any], transform_input: bool = True) -> None:
    """Send a matching event to the rule's targets: functions and topics in the background, which moto does not support."""
    if self.state != "ENABLED" or not self.event_pattern.get_pattern():
        return
    event = _cleaned(original_event)
    if not self.event_pattern.matches_event(event):
        return
    dimensions = frozenset({("RuleName", self.name)})
    alarms.count(Metric(self.account_id, self.region_name, "AWS/Events", "TriggeredRules", dimensions))
    delivered = [target for target in self.targets if delivery.delivers(target["Arn"])]
    for target in delivered:
        delivery.start(delivery.Delivery(self.account_id, self.arn, target, event))
    others = [target for target in self.targets if target not in delivered]
    if others:
        kept, self.targets = self.targets, others
        try:
            _send_to_targets(self, original_event, transform_input)
        finally:
            self.targets = kept


def _cleaned(event: dict[str, Any]) -> dict[str, Any]:
    """Return the event as targets receive it: moto's own has a number as its time, and an extra key."""
    when = event["time"]
    if not isinstance(when, str):
        when = _stamp(datetime.fromtimestamp(float(when), UTC))
    return {**{key: value for key, value in event.items() if key != "ingestion-time"}, "time": when}


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _show(_: control.Request) -> list[dict[str, Any]]:
    return [{"event": event, "deliveries": delivery.outcomes(event["id"])} for event in list(_record)]


def install(endpoint: str) -> None:
    """Deliver events, and list them at /_local_aws/events."""
    delivery.use(endpoint)
    Rule.send_to_targets = _send
    patterns.install()
    control.route("events", _show)


def reset() -> None:
    """Cancel pending deliveries."""
    delivery.reset()
    _record.clear()
