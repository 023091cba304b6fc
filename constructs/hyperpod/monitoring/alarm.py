"""Define alarms of a cluster."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct


@dataclass(frozen=True)
class AlarmSpec:
    """An alarm: its metric, when it is breached, what that means and what to do."""

    id: str
    description: str
    namespace: str
    metric: str
    statistic: str = "Sum"
    comparison: str = "GreaterThanOrEqualToThreshold"
    threshold: float = 1
    period_s: int = 300
    periods: int = 1
    missing: str = "notBreaching"
    """With `missing`, the end of the data notifies too: the alarm changes to INSUFFICIENT_DATA."""
    dimensions: dict[str, str] = field(default_factory=dict)
    plus: str | None = None
    """A second metric, added to the first."""


def define_alarms(scope: Construct, prefix: str, topic_arn: str | None, specs: Iterable[AlarmSpec]) -> list[str]:
    """Define the alarms, which notify the topic if there is one, and return their names."""
    actions = [topic_arn] if topic_arn else None
    return [_define(scope, f"{prefix}-{spec.id}", actions, spec) for spec in specs]


def _define(scope: Construct, name: str, actions: list[str] | None, spec: AlarmSpec) -> str:
    metric = {
        "namespace": spec.namespace,
        "metric_name": spec.metric,
        "dimensions": _dimensions(spec) or None,
        "statistic": spec.statistic,
        "period": spec.period_s,
    }
    cloudwatch.CfnAlarm(
        scope,
        spec.id,
        alarm_name=name,
        alarm_description=spec.description,
        comparison_operator=spec.comparison,
        threshold=spec.threshold,
        evaluation_periods=spec.periods,
        treat_missing_data=spec.missing,
        alarm_actions=actions,
        insufficient_data_actions=actions if spec.missing == "missing" else None,
        **({"metrics": _sum(spec, [spec.metric, spec.plus])} if spec.plus else metric),
    )
    return name


def _dimensions(spec: AlarmSpec) -> list[cloudwatch.CfnAlarm.DimensionProperty]:
    return [cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in spec.dimensions.items()]


def _sum(spec: AlarmSpec, names: list[str]) -> list[cloudwatch.CfnAlarm.MetricDataQueryProperty]:
    """Return the queries of an alarm on the sum of metrics."""
    queries = [
        cloudwatch.CfnAlarm.MetricDataQueryProperty(
            id=f"m{number}",
            metric_stat=cloudwatch.CfnAlarm.MetricStatProperty(
                metric=cloudwatch.CfnAlarm.MetricProperty(
                    namespace=spec.namespace, metric_name=name, dimensions=_dimensions(spec)
                ),
                period=spec.period_s,
                stat=spec.statistic,
            ),
            return_data=False,
        )
        for number, name in enumerate(names)
    ]
    expression = " + ".join(query.id for query in queries)
    return [cloudwatch.CfnAlarm.MetricDataQueryProperty(id="total", expression=expression, return_data=True), *queries]
