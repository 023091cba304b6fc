"""Define the alarm on records of HyperPod's health monitoring agent."""

from aws_cdk import aws_logs as logs
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.monitoring.alarm import AlarmSpec, define_alarm
from constructs.hyperpod.monitoring.node_alarms import metric_namespace

METRIC = "health-events"
# At its start, the agent also records each condition that is fine, with this message. Each fault has a record with another one.
PATTERN = '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" && $.msg != "NPD caught " }'


class HealthAgentAlarm(Construct):
    """Define the alarm on faults that the agent finds; for Slurm clusters, HyperPod sends no event about them.

    The log group must exist, or CloudFormation fails: nodes create it when their lifecycle script starts.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, log_group_name: str, topic_arn: str) -> None:
        super().__init__(scope, id)
        logs.CfnMetricFilter(
            self,
            "Count",
            log_group_name=log_group_name,
            filter_pattern=PATTERN,
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=metric_namespace(config), metric_name=METRIC, metric_value="1"
                )
            ],
        )
        description = (
            f"HyperPod's health monitoring agent found a hardware fault. Run `./hpod events {config.name}` for the record, then "
            "`./hpod health-check` or `./hpod replace` the node; with `node_recovery: Automatic`, HyperPod repairs it"
        )
        spec = AlarmSpec(
            "NodeFault", description, metric_namespace(config), METRIC, "Sum", "GreaterThanOrEqualToThreshold", threshold=1
        )
        self.names = [str(define_alarm(self, config, topic_arn, spec).alarm_name)]
