"""Metric filters of log groups: count the events that match."""

import json
from functools import lru_cache
from typing import Any

from moto.logs import models as logs_models
from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogGroup, LogsBackend, logs_backends
from moto.logs.utils import EventMessageFilter

from local_aws.metrics.alarms import count
from local_aws.metrics.patterns import Matches, matcher, value_at
from local_aws.metrics.values import Metric

_put = LogGroup.put_log_events
_put_filter = LogsBackend.put_metric_filter
_matcher = lru_cache(matcher)


def install() -> None:
    """Apply the metric filters of every log group, and JSON patterns of searches; moto does neither."""
    LogGroup.put_log_events = _put_and_count
    logs_models.EventMessageFilter = _Search
    LogsBackend.put_metric_filter = _put_filter_of_group


class _Search:
    """The filter pattern of FilterLogEvents; moto lets every line match a JSON pattern."""

    def __init__(self, pattern: str) -> None:
        self.matches: Matches = _matcher(pattern) if str(pattern).startswith("{") else EventMessageFilter(pattern).matches


def _put_filter_of_group(self: Any, filter_name: str, filter_pattern: str, log_group_name: str, transformations: Any) -> None:
    """Refuse a filter of an absent log group, as CloudWatch Logs does."""
    if log_group_name not in self.groups:
        raise ResourceNotFoundException
    _put_filter(self, filter_name, filter_pattern, log_group_name, transformations)


def _put_and_count(self: Any, log_stream_name: str, log_events: list[dict[str, Any]]) -> Any:
    answer = _put(self, log_stream_name, log_events)
    filters = logs_backends[self.account_id][self.region].filters.get_matching_filters(log_group_name=self.name)
    for each in filters:
        matches: Matches = _matcher(each["filterPattern"])
        for event in log_events:
            if matches(event["message"]):
                _count(self, each["metricTransformations"], json.loads(event["message"]))
    return answer


def _count(group: Any, transformations: list[dict[str, Any]], line: dict[str, Any]) -> None:
    for each in transformations:
        dimensions = frozenset((name, str(value_at(selector, line))) for name, selector in (each.get("dimensions") or {}).items())
        metric = Metric(group.account_id, group.region, each["metricNamespace"], each["metricName"], dimensions)
        value = each["metricValue"]
        figure = value_at(value, line) if value.startswith("$.") else float(value)
        if isinstance(figure, int | float):  # CloudWatch Logs ignores an event without the number
            count(metric, float(figure))
