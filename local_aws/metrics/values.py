"""The values of the metrics that the embedded AWS counts itself; those from PutMetricData are not included."""

import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass

from local_aws.clock import clock

_KEPT = 500
_OF_NODES = "hyperpod-cdk/"
"""The start of the namespaces of the nodes' reports: constructs/hyperpod/monitoring/node_alarms.py."""


@dataclass(frozen=True)
class Metric:
    """The identity of a metric."""

    account: str
    region: str
    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]

    def seconds(self) -> float:
        """Return the current time: AWS's, but the host's for the nodes' reports, which simulated nodes send in host time."""
        return time.monotonic() if self._is_of_nodes else clock.seconds()

    @property
    def pace(self) -> float:
        """Return how fast alarms' periods pass in that time."""
        return _pace[0] if self._is_of_nodes else _HOST

    @property
    def _is_of_nodes(self) -> bool:
        return self.namespace.startswith(_OF_NODES)


_values: defaultdict[Metric, deque[tuple[float, float]]] = defaultdict(lambda: deque(maxlen=_KEPT))
"""Arrival times and values."""
_lock = threading.Lock()
_HOST = 1.0
_pace = [_HOST]
"""How fast the periods of alarms on the nodes' reports pass."""


def set_pace_of_reports(pace: float) -> None:
    """Let the periods of alarms on the nodes' reports pass faster, for agents that run more often than once a minute."""
    _pace[0] = pace


def add(metric: Metric, value: float) -> None:
    """Add a value that arrives now."""
    with _lock:
        _values[metric].append((metric.seconds(), value))


def values_of(metric: Metric, period_s: float, periods: int) -> list[list[float]]:
    """Return the values in each of the last ``periods`` periods, the newest first."""
    now, host_period_s = metric.seconds(), period_s / metric.pace
    found: list[list[float]] = [[] for _ in range(periods)]
    with _lock:
        for seconds, value in _values.get(metric, ()):
            index = max(0, int((now - seconds) // host_period_s))  # the clock may restart
            if index < periods:
                found[index].append(value)
    return found


def forget() -> None:
    """Delete all values, and return to the host's pace."""
    _pace[0] = _HOST
    with _lock:
        _values.clear()
