"""DescribeAlarmHistory, which moto lacks: the state changes of the alarms that exist. Other kinds of items are not kept."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult

_STATE_UPDATE = "StateUpdate"


def install() -> None:
    """Answer the operation."""
    CloudWatchResponse.describe_alarm_history = _describe_alarm_history


def _describe_alarm_history(self: Any) -> Any:
    name, kind = self._get_param("AlarmName"), self._get_param("HistoryItemType") or _STATE_UPDATE
    start, end = self._get_param("StartDate"), self._get_param("EndDate")
    alarms = [each for each in self.cloudwatch_backend.alarms.values() if name in (None, each.name)]
    items = [item for alarm in alarms for item in _changes(alarm) if kind == _STATE_UPDATE]
    found = [item for item in items if _is_between(item["Timestamp"], start, end)]
    found.sort(key=lambda item: item["Timestamp"], reverse=self._get_param("ScanBy") != "TimestampAscending")
    return ActionResult({"AlarmHistoryItems": found})


def _changes(alarm: Any) -> Iterator[dict[str, Any]]:
    """Yield each change of the alarm's state; moto keeps the states before the current one."""
    before = [(state, reason, time) for _, reason, _, state, time in alarm.history]
    states = [*before, (alarm.state_value, alarm.state_reason, alarm.state_updated_timestamp)]
    for (old, old_reason, _), (new, reason, time) in pairwise(states):
        data = {
            "version": "1.0",
            "oldState": {"stateValue": old, "stateReason": old_reason},
            "newState": {"stateValue": new, "stateReason": reason},
        }
        yield {
            "AlarmName": alarm.name,
            "AlarmType": "CompositeAlarm" if alarm.rule else "MetricAlarm",
            "Timestamp": time,
            "HistoryItemType": _STATE_UPDATE,
            "HistorySummary": f"Alarm updated from {old} to {new}",
            "HistoryData": json.dumps(data),
        }


def _is_between(time: datetime, start: Any, end: Any) -> bool:
    moment = _aware(time)
    return (start is None or moment >= _aware(start)) and (end is None or moment <= _aware(end))


def _aware(time: Any) -> datetime:
    found = time if isinstance(time, datetime) else datetime.fromisoformat(str(time))
    return found if found.tzinfo else found.replace(tzinfo=UTC)
