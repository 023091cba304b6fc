"""Define an alarm of a cluster."""

from dataclasses import dataclass, field

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from config.model import ClusterConfig


@dataclass(frozen=True)
class AlarmSpec:
    """An alarm: its metric, when it is breached, what that means and what to do."""

    id: str
    description: str
    namespace: str
    metric: str
    statistic: str
    comparison: str
    threshold: float
    period_s: int = 300
    periods: int = 1
    missing: str = "notBreaching"
    """With `missing`, the end of the data notifies too: the alarm changes to INSUFFICIENT_DATA."""
    dimensions: dict[str, str] = field(default_factory=dict)
    plus: str | None = None
    """A second metric, added to the first."""


def alarm_name(config: ClusterConfig, id: str) -> str:
    """Return the name of an alarm."""
    return f"{config.name}-{id}"


def define_alarm(scope: Construct, config: ClusterConfig, topic_arn: str, spec: AlarmSpec) -> cloudwatch.CfnAlarm:
    """Define the alarm, which notifies the topic."""
    metric = {
        "namespace": spec.namespace,
        "metric_name": spec.metric,
        "dimensions": _dimensions(spec) or None,
        "statistic": spec.statistic,
        "period": spec.period_s,
    }
    return cloudwatch.CfnAlarm(
        scope,
        spec.id,
        alarm_name=alarm_name(config, spec.id),
        alarm_description=spec.description,
        comparison_operator=spec.comparison,
        threshold=spec.threshold,
        evaluation_periods=spec.periods,
        treat_missing_data=spec.missing,
        alarm_actions=[topic_arn],
        insufficient_data_actions=[topic_arn] if spec.missing == "missing" else None,
        **({"metrics": _sum(spec, [spec.metric, spec.plus])} if spec.plus else metric),
    )


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
