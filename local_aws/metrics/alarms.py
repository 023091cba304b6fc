"""Alarms on the metrics that the embedded AWS counts itself, evaluated when a value arrives and every minute.

Unlike AWS: periods end now instead of at full minutes; other actions than publishing to a topic are not supported.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from moto.cloudwatch.models import CloudWatchBackend, cloudwatch_backends
from moto.sns.models import sns_backends

from local_aws import iam
from local_aws.clock import clock
from local_aws.metrics import values
from local_aws.metrics.values import Metric
from local_aws.schedule import schedule

_SERVICE = "cloudwatch.amazonaws.com"
_EVERY_S = 60.0
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda have, threshold: have >= threshold,
    "GreaterThanThreshold": lambda have, threshold: have > threshold,
    "LessThanOrEqualToThreshold": lambda have, threshold: have <= threshold,
    "LessThanThreshold": lambda have, threshold: have < threshold,
}
_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "Average": lambda found: sum(found) / len(found),
    "SampleCount": len,
}
"""Per statistic, the function of the values in one period."""
_MISSING = {"breaching": True, "notBreaching": False, "ignore": None, "missing": None}
"""Per TreatMissingData, whether a period without values breaches; None: the values of the other periods decide."""
_OK, _ALARM, _NO_DATA = "OK", "ALARM", "INSUFFICIENT_DATA"
_STATE = ("state_value", "state_reason", "state_reason_data", "state_updated_timestamp", "history")
"""The attributes of moto's alarms that a new configuration keeps."""
_SUM = re.compile(r"\w+(?: \+ \w+)*")

_put_alarm = CloudWatchBackend.put_metric_alarm
_lock = threading.RLock()
_sources: list[Callable[[float], None]] = []
_ticks: set[str] = set()


class AlarmError(Exception):
    """The alarm cannot be evaluated here."""


def check(properties: dict[str, Any]) -> None:
    """Refuse an alarm that would not be evaluated as on AWS."""
    statistics = [properties.get("Statistic")]
    if queries := properties.get("Metrics"):
        statistics = [query["MetricStat"]["Stat"] for query in queries if "MetricStat" in query]
        sums = [query["Expression"] for query in queries if "Expression" in query]
        if len(sums) != 1 or not _SUM.fullmatch(sums[0]):
            raise AlarmError(f"not part of the embedded AWS: an alarm on {', '.join(sums) or 'no expression'}")
    comparison, missing = properties["ComparisonOperator"], properties.get("TreatMissingData")
    if {*statistics} <= {*_STATISTICS} and comparison in _COMPARISONS and missing in _MISSING:
        return
    what = f"{statistics}, {comparison}, TreatMissingData {missing}"
    raise AlarmError(f"not part of the embedded AWS: an alarm with {what}")


def install() -> None:
    """Evaluate alarms from their creation on."""
    CloudWatchBackend.put_metric_alarm = _put_and_watch


def every_minute(source: Callable[[float], None]) -> None:
    """Call ``source`` every minute, as long as there are alarms, to count a service's own metrics.

    Its argument is the seconds since the last call: on a busy machine more than 60, as calls are late then.
    """
    if source not in _sources:
        _sources.append(source)


def count(metric: Metric, value: float = 1) -> None:
    """Add a value, and evaluate the alarms on its metric."""
    values.add(metric, value)
    for alarm in list(cloudwatch_backends[metric.account][metric.region].alarms.values()):
        for each, stat in _terms(alarm):
            if each == metric:
                _evaluate(alarm)
                # Just after the end of the period in which the value counts.
                schedule.after(float(stat.period) + 1, partial(_evaluate, alarm))


def forget() -> None:
    """Delete all values, and stop."""
    values.forget()
    _ticks.clear()


def _put_and_watch(self: Any, *arguments: Any, **named: Any) -> Any:
    before = dict(self.alarms)
    alarm = _put_alarm(self, *arguments, **named)
    alarm.state_value = _NO_DATA  # until its first evaluation; moto has OK
    if old := before.get(alarm.name):  # an update keeps the state
        for name in _STATE:
            setattr(alarm, name, getattr(old, name))
    if not _ticks:
        _ticks.add("started")
        schedule.after(_EVERY_S, partial(_tick, clock.seconds()))
    return alarm


def _tick(last: float) -> None:
    """Count the services' metrics since the ``last`` time, evaluate all alarms, and continue while there are some."""
    if not _ticks:
        return
    alarms = list(_alarms())
    if not alarms:
        _ticks.clear()
        return
    now = clock.seconds()
    schedule.after(_EVERY_S, partial(_tick, now))
    for source in _sources:
        source(max(now - last, 0))  # the clock may restart
    for alarm in alarms:
        _evaluate(alarm)


def _alarms() -> Iterator[Any]:
    for account in list(cloudwatch_backends.values()):
        for backend in list(account.values()):
            yield from list(backend.alarms.values())


def _terms(alarm: Any) -> list[tuple[Metric, Any]]:
    """Return the metrics that the alarm adds up, each with its statistic and period."""
    if not alarm.metric_data_queries:
        return [(_metric(alarm, alarm), alarm)] if alarm.metric_name else []
    stats = [query.metric_stat for query in alarm.metric_data_queries if query.metric_stat]
    return [(_metric(alarm, stat.metric), stat) for stat in stats]


def _metric(alarm: Any, of: Any) -> Metric:
    account, region = alarm.alarm_arn.split(":")[4], alarm.alarm_arn.split(":")[3]
    name = of.metric_name
    return Metric(account, region, of.namespace, name, frozenset((each.name, each.value) for each in of.dimensions or ()))


def _figures(alarm: Any) -> Iterator[float | None]:
    """Yield the figure of each period, the newest first; None without values."""
    parts: list[Iterable[float | None]] = []
    for metric, stat in _terms(alarm):
        statistic = _STATISTICS[getattr(stat, "stat", None) or stat.statistic]
        found = values.values_of(metric, float(stat.period), int(alarm.evaluation_periods))
        parts.append([statistic(each) if each else None for each in found])
    for period in zip(*parts, strict=True):
        known = [each for each in period if each is not None]
        yield sum(known) if len(known) == len(period) else None


def _evaluate(alarm: Any) -> None:
    """Set the alarm's state."""
    with _lock:
        figures = list(_figures(alarm))
        compare, threshold = _COMPARISONS[alarm.comparison_operator], float(alarm.threshold)
        missing = _MISSING[alarm.treat_missing_data]
        breached = [missing if figure is None else compare(figure, threshold) for figure in figures]
        state = _state(breached, alarm.treat_missing_data)
        if state and alarm.state_value != state:
            shown = ", ".join("none" if figure is None else f"{figure:g}" for figure in figures)
            reason = f"the values of the last {len(figures)} periods, newest first, are {shown}; the threshold is {threshold:g}"
            alarm.update_state(reason, "{}", state)
            _notify(alarm, state, reason)


def _state(breached: list[bool | None], treat_missing: str) -> str:
    """Return the state that the periods mean, the newest first; empty if the alarm keeps its state.

    With `missing`, an alarm needs a breach in the oldest period and none without one: AWS's "premature transitions".
    """
    if False in breached:
        return _OK
    if treat_missing == "missing" and not any(breached):
        return _NO_DATA
    is_old = all(breached) or (treat_missing == "missing" and bool(breached[-1]))
    return _ALARM if breached and is_old else ""


def _notify(alarm: Any, state: str, reason: str) -> None:
    """Publish to the topics of the state whose policies allow it; other actions are not supported."""
    actions = {_ALARM: alarm.alarm_actions, _OK: alarm.ok_actions, _NO_DATA: alarm.insufficient_data_actions}[state] or ()
    account, region = alarm.alarm_arn.split(":")[4], alarm.alarm_arn.split(":")[3]
    message = {
        "AlarmName": alarm.name,
        "AlarmDescription": alarm.description,
        "NewStateValue": state,
        "NewStateReason": reason,
        "AlarmArn": alarm.alarm_arn,
    }
    topics = sns_backends[account][region]
    for arn in actions:
        context = {"aws:SourceArn": alarm.alarm_arn, "aws:SourceAccount": account}
        if arn in topics.topics and iam.service_may_publish(account, _SERVICE, arn, context):
            topics.publish(json.dumps(message), arn=arn, subject=f"{state}: {alarm.name}"[:100])
