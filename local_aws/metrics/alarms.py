"""Metrics that the embedded AWS counts itself, and their alarms, evaluated when a value arrives and when it expires.

Values from PutMetricData are not included.
"""

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends
from moto.sns.models import sns_backends

from local_aws.clock import clock
from local_aws.schedule import schedule

_KEPT = 2_000
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda have, threshold: have >= threshold,
    "GreaterThanThreshold": lambda have, threshold: have > threshold,
    "LessThanOrEqualToThreshold": lambda have, threshold: have <= threshold,
    "LessThanThreshold": lambda have, threshold: have < threshold,
}
_STATISTICS: dict[str, Callable[[list[float]], float]] = {"Sum": sum, "Maximum": max, "SampleCount": len}
"""Per statistic, the function of the values in one period."""


@dataclass(frozen=True)
class Metric:
    """The identity of a metric."""

    account: str
    region: str
    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]


_values: deque[tuple[Metric, float, float]] = deque(maxlen=_KEPT)
"""Values with their arrival times, in AWS's seconds."""
_lock = threading.Lock()


class AlarmError(Exception):
    """The alarm cannot be evaluated here."""


def check(statistic: str | None, comparison: str, periods: int, missing: str | None) -> None:
    """Refuse an alarm that would not be evaluated as on AWS."""
    if statistic in _STATISTICS and comparison in _COMPARISONS and periods == 1 and missing == "notBreaching":
        return
    what = f"{statistic}, {comparison}, {periods} periods, TreatMissingData {missing}"
    raise AlarmError(f"not part of the embedded AWS: an alarm with {what}")


def count(metric: Metric, value: float = 1) -> None:
    """Add a value, and evaluate the alarms on its metric."""
    with _lock:
        _values.append((metric, value, clock.seconds()))
    for alarm in list(cloudwatch_backends[metric.account][metric.region].alarms.values()):
        if _metric_of(alarm, metric) == metric:
            _evaluate(alarm, metric)
            # Just after the end of the period in which the value counts.
            schedule.after(float(alarm.period) + 1, _evaluation(alarm, metric))


def forget() -> None:
    """Delete all values."""
    with _lock:
        _values.clear()


def _metric_of(alarm: Any, like: Metric) -> Metric:
    dimensions = frozenset((dimension.name, dimension.value) for dimension in alarm.dimensions)
    return Metric(like.account, like.region, alarm.namespace, alarm.metric_name, dimensions)


def _evaluation(alarm: Any, metric: Metric) -> Callable[[], None]:
    return lambda: _evaluate(alarm, metric)


def _evaluate(alarm: Any, metric: Metric) -> None:
    """Set the alarm's state by the values in its period; without values it is OK, as TreatMissingData says."""
    since = clock.seconds() - float(alarm.period)
    with _lock:
        values = [value for of, value, seconds in _values if of == metric and seconds > since]
    figure = _STATISTICS[alarm.statistic](values) if values else 0.0
    is_breached = bool(values) and _COMPARISONS[alarm.comparison_operator](figure, float(alarm.threshold))
    state = "ALARM" if is_breached else "OK"
    if alarm.state_value != state:
        reason = f"{alarm.statistic} of {alarm.metric_name} is {figure:g} in {alarm.period} seconds"
        alarm.update_state(reason, "{}", state)
        _notify(alarm, metric, state, reason)


def _notify(alarm: Any, metric: Metric, state: str, reason: str) -> None:
    """Publish to the topics of the state; other actions are not supported."""
    actions = (alarm.alarm_actions if state == "ALARM" else alarm.ok_actions) or ()
    message = {"AlarmName": alarm.name, "NewStateValue": state, "NewStateReason": reason, "AlarmArn": alarm.alarm_arn}
    topics = sns_backends[metric.account][metric.region]
    for arn in actions:
        if arn in topics.topics:
            topics.publish(json.dumps(message), arn=arn, subject=f"{state}: {alarm.name}"[:100])
