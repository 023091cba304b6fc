"""Alarms of the embedded AWS: statistics, several periods, sums of metrics, and missing values."""

from types import SimpleNamespace
from typing import Any

import pytest
from moto.cloudwatch.models import CloudWatchBackend

from local_aws.metrics import alarms, values
from local_aws.metrics.values import Metric

NO_DATA = "INSUFFICIENT_DATA"
NEVER_EVALUATED = "Unchecked: Initial alarm creation"  # AWS's text
ARN = "arn:aws:cloudwatch:us-west-2:123456789012:alarm:a"


class Alarm(SimpleNamespace):
    """An alarm in moto's form."""

    def update_state(self, reason: str, _: str, state: str) -> None:
        self.reason, self.state_value = reason, state


def alarm(**changes: Any) -> Alarm:
    """Return an alarm on three periods of a minute whose maximum is below 1."""
    settings = {
        "name": "a",
        "description": "",
        "alarm_arn": ARN,
        "namespace": "ours",
        "metric_name": "answers",
        "dimensions": [],
        "metric_data_queries": [],
        "statistic": "Maximum",
        "period": 60,
        "evaluation_periods": 3,
        "threshold": 1,
        "comparison_operator": "LessThanThreshold",
        "treat_missing_data": "breaching",
        "alarm_actions": [],
        "ok_actions": [],
        "insufficient_data_actions": [],
        "state_value": "OK",
    }
    return Alarm(**settings | changes)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that adds a value at a second; the alarm is evaluated at second 180."""
    now = [0.0]
    monkeypatch.setattr(values.Metric, "seconds", lambda _: now[0])
    values.forget()

    def add(second: float, value: float, name: str = "answers", namespace: str = "ours") -> None:
        now[0] = second
        values.add(Metric("123456789012", "us-west-2", namespace, name, frozenset()), value)
        now[0] = 180.0

    now[0] = 180.0
    return add


def evaluated(one: Alarm) -> str:
    alarms._evaluate(one)
    return str(one.state_value)


@pytest.mark.parametrize(("missing", "state"), [("breaching", "ALARM"), ("notBreaching", "OK"), ("ignore", "OK")])
def test_missing_values_are_treated_as_the_alarm_says(at: Any, missing: str, state: str) -> None:
    assert evaluated(alarm(treat_missing_data=missing)) == state


def test_ignored_missing_values_keep_an_alarm(at: Any) -> None:
    at(170, 0)
    assert evaluated(alarm(treat_missing_data="ignore", state_value="ALARM")) == "ALARM"


@pytest.mark.parametrize(
    ("reports", "state"),
    [
        ({}, NO_DATA),
        ({70: 0, 150: 1}, "OK"),
        ({150: 0}, "before"),
        ({70: 0, 170: 0}, "before"),
        ({10: 0}, "ALARM"),
        ({10: 0, 170: 0}, "ALARM"),
        ({10: 0, 70: 0, 170: 0}, "ALARM"),
    ],
)
def test_missing_values_are_no_data_and_one_old_breach_is_enough(at: Any, reports: dict[float, float], state: str) -> None:
    for second, value in reports.items():
        at(second, value)
    assert evaluated(alarm(treat_missing_data="missing", state_value="before")) == state


def test_the_periods_of_reports_have_a_pace_of_their_own(at: Any) -> None:
    values.set_pace_of_reports(2)
    at(100, 0)
    at(100, 0, namespace="hyperpod-cdk/ml")
    assert evaluated(alarm(evaluation_periods=2, treat_missing_data="missing")) == "ALARM"
    assert evaluated(alarm(namespace="hyperpod-cdk/ml", evaluation_periods=2, treat_missing_data="missing")) == NO_DATA
    values.forget()
    at(100, 0, namespace="hyperpod-cdk/ml")
    assert evaluated(alarm(namespace="hyperpod-cdk/ml", evaluation_periods=2, treat_missing_data="missing")) == "ALARM"


def test_all_periods_must_breach(at: Any) -> None:
    at(30, 0)
    at(90, 1)
    at(150, 0)
    assert evaluated(alarm()) == "OK"
    at(95, 0)
    assert evaluated(alarm()) == "OK", "the maximum of the second period is still 1"
    assert evaluated(alarm(statistic="Minimum")) == "ALARM"


@pytest.mark.parametrize(
    ("statistic", "threshold", "state"), [("Sum", 10, "ALARM"), ("Average", 10, "OK"), ("SampleCount", 2, "ALARM")]
)
def test_a_statistic_is_of_the_values_of_a_period(at: Any, statistic: str, threshold: float, state: str) -> None:
    at(170, 4)
    at(171, 6)
    comparison = "GreaterThanOrEqualToThreshold"
    one = alarm(statistic=statistic, evaluation_periods=1, threshold=threshold, comparison_operator=comparison)
    assert evaluated(one) == state


def test_metrics_are_added(at: Any) -> None:
    stats = [
        SimpleNamespace(metric=SimpleNamespace(namespace="ours", metric_name=name, dimensions=[]), stat="Sum", period=60)
        for name in ("read", "write")
    ]
    queries = [SimpleNamespace(metric_stat=stat) for stat in [None, *stats]]
    one = alarm(
        metric_data_queries=queries, metric_name=None, evaluation_periods=1, threshold=10, treat_missing_data="notBreaching"
    )
    one.comparison_operator = "GreaterThanThreshold"
    at(170, 6, "read")
    assert evaluated(one) == "OK"
    at(170, 6, "write")
    assert evaluated(one) == "ALARM"


@pytest.mark.parametrize(
    "wrong",
    [
        {"Statistic": "IQM"},
        {"TreatMissingData": None},
        {"Metrics": [{"Id": "e", "Expression": "a / b"}]},
    ],
)
def test_an_alarm_that_cannot_be_evaluated_is_refused(wrong: dict[str, Any]) -> None:
    right = {"Statistic": "Sum", "ComparisonOperator": "LessThanThreshold", "TreatMissingData": "breaching"}
    alarms.check(right)
    with pytest.raises(alarms.AlarmError, match="not part of the embedded AWS"):
        alarms.check({**right, **wrong})


def test_a_new_configuration_keeps_the_state_of_an_alarm() -> None:
    backend = CloudWatchBackend("us-west-2", "123456789012")
    settings: dict[str, Any] = {
        "name": "a",
        "namespace": "ours",
        "metric_name": "answers",
        "comparison_operator": "LessThanThreshold",
        "evaluation_periods": 1,
        "period": 60,
        "statistic": "Maximum",
        "description": "",
        "dimensions": [],
        "alarm_actions": [],
    }
    first = alarms._put_and_watch(backend, threshold=1, **settings)
    assert (first.state_value, first.state_reason) == (NO_DATA, NEVER_EVALUATED)
    first.update_state("too low", "{}", "ALARM")
    second = alarms._put_and_watch(backend, threshold=2, **settings)
    assert (second.threshold, second.state_value, second.state_reason) == (2, "ALARM", "too low")
    assert (second.state_updated_timestamp, second.history) == (first.state_updated_timestamp, first.history)
    alarms.forget()
