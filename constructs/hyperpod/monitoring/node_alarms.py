"""Define metrics and alarms of the nodes' reports, and of their health monitoring agent."""

from collections.abc import Iterator
from functools import partial

from aws_cdk import aws_logs as logs
from constructs import Construct

from config.model import ClusterConfig, slurm_of
from config.operation_names import node_log_group
from config.slurm import Database
from constructs.hyperpod.monitoring.alarm import AlarmSpec, define_alarms

# Values in the controllers' reports, one report a minute: docs/operate/monitoring.md.
SLURM_VALUES = ("slurmctld", "slurmdbd", "nodes", "idle", "allocated", "drained", "down")
DISKS = 4
"""The disks of a report that the filter compares; filter patterns have no loop over a list."""
FULL, FAILED = "full-disks", "failed-bundles"
HEALTH_EVENTS = "health-events"
# At its start, the agent also records each condition that is fine, with this message. Each fault has a record with another one.
FAULT = '{ $.HealthMonitoringAgentDetectionEvent = "HealthEvent" && $.msg != "NPD caught " }'


def metric_namespace(config: ClusterConfig) -> str:
    """Return the CloudWatch namespace of the cluster's metrics."""
    return f"hyperpod-cdk/{config.name}"


class NodeAlarms(Construct):
    """Define alarms on Slurm's daemons, drained and down nodes, full disks, and scripts that a node could not apply."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, topic_arn: str) -> None:
        super().__init__(scope, id)
        low = " || ".join(f"$.disks[{index}].free_percent < {config.monitoring.free_disk_percent}" for index in range(DISKS))
        counted = {
            **{name: (f'{{ $.record = "state" && $.slurm.{name} >= 0 }}', f"$.slurm.{name}") for name in SLURM_VALUES},
            FULL: (f'{{ $.record = "state" && ({low}) }}', "1"),
            FAILED: ('{ $.record = "bundle" && ($.result = "failed" || $.result = "refused") }', "1"),
        }
        reports = node_log_group(config.name)
        for name, (pattern, value) in counted.items():
            _count(self, f"Count-{name}", config, log_group_name=reports, metric=name, pattern=pattern, value=value)
        self.names = define_alarms(self, config.name, topic_arn, _alarms(config))


class HealthAgentAlarm(Construct):
    """Define the alarm on faults that HyperPod's health monitoring agent finds; for Slurm clusters, HyperPod sends no event.

    The log group must exist, or CloudFormation fails: nodes create it when their lifecycle script starts.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, log_group_name: str, topic_arn: str) -> None:
        super().__init__(scope, id)
        _count(self, "Count", config, log_group_name=log_group_name, metric=HEALTH_EVENTS, pattern=FAULT)
        description = (
            f"HyperPod's health monitoring agent found a hardware fault. Run `./hpod events {config.name}` for the record, then "
            "`./hpod health-check` or `./hpod replace` the node; with `node_recovery: Automatic`, HyperPod repairs it"
        )
        spec = AlarmSpec("NodeFault", description, metric_namespace(config), HEALTH_EVENTS)
        self.names = define_alarms(self, config.name, topic_arn, [spec])


def _count(
    scope: Construct, id: str, config: ClusterConfig, *, log_group_name: str, metric: str, pattern: str, value: str = "1"
) -> None:
    """Define a metric of the records in a log group."""
    transformation = logs.CfnMetricFilter.MetricTransformationProperty(
        metric_namespace=metric_namespace(config), metric_name=metric, metric_value=value
    )
    logs.CfnMetricFilter(
        scope, id, log_group_name=log_group_name, filter_pattern=pattern, metric_transformations=[transformation]
    )


def _alarms(config: ClusterConfig) -> Iterator[AlarmSpec]:
    name, monitoring = config.name, config.monitoring
    spec = partial(AlarmSpec, namespace=metric_namespace(config))
    daemon = partial(spec, statistic="Maximum", comparison="LessThanThreshold", period_s=60, periods=4)
    yield daemon(
        "SlurmctldDown",
        "slurmctld has not answered for 4 minutes, or the controller sends no reports (INSUFFICIENT_DATA): no job starts. "
        f"Run `./hpod status {name}`, then `./hpod events {name}`; replace a controller that is gone with `./hpod replace`",
        metric="slurmctld",
        missing="missing",  # not "breaching", which fires before the first report
    )
    if slurm_of(config).accounting.database is not Database.NONE:
        yield daemon(
            "SlurmdbdDown",
            "slurmdbd has not answered for 4 minutes: accounting is not recorded, and limits are not checked. Run `./hpod "
            f"status {name}`, and check the accounting database",
            metric="slurmdbd",
        )
    yield spec(
        "NodesDrained",
        f"Slurm starts no jobs on drained nodes. Run `./hpod status {name}` for the reasons, then `./hpod health-check`, "
        "`./hpod resume` or `./hpod replace`",
        metric="drained",
        statistic="Maximum",
        threshold=monitoring.drained_nodes,
    )
    yield spec(
        "NodesDown",
        f"Nodes are down in Slurm for 10 minutes, and their jobs failed. Run `./hpod status {name}` for the reasons, "
        "then `./hpod resume` if a node rebooted, otherwise `./hpod reboot` or `./hpod replace`",
        metric="down",
        statistic="Maximum",
        periods=2,
    )
    yield spec(
        "DiskSpaceLow",
        f"A disk or file system of a node has less than {monitoring.free_disk_percent} % free space: jobs and daemons fail "
        f"when it is full. Run `./hpod status {name}`, and delete files",
        metric=FULL,
        period_s=600,  # most nodes report every 5 minutes
    )
    yield spec(
        "BundleFailed",
        f"A node could not apply its scripts, or refused them because they were changed outside the deployment. Run `./hpod "
        f"status {name}` for the step; the next `cdk deploy` repairs it",
        metric=FAILED,
    )
