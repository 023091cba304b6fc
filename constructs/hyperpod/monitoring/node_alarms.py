"""Define metrics and alarms of the nodes' reports."""

from collections.abc import Iterator

from aws_cdk import aws_logs as logs
from constructs import Construct

from config.model import ClusterConfig, slurm_of
from config.operation_names import node_log_group
from config.slurm import Database
from constructs.hyperpod.monitoring.alarm import AlarmSpec, define_alarm

# Values in the controllers' reports, one report a minute: docs/operate/monitoring.md.
SLURM_VALUES = ("slurmctld", "slurmdbd", "nodes", "idle", "allocated", "drained", "down")
DISKS = 4
"""The disks of a report that the filter compares; filter patterns have no loop over a list."""
FULL, FAILED = "full-disks", "failed-bundles"


def metric_namespace(config: ClusterConfig) -> str:
    """Return the CloudWatch namespace of the cluster's metrics."""
    return f"hyperpod-cdk/{config.name}"


class NodeAlarms(Construct):
    """Define alarms on Slurm's daemons, drained and down nodes, full disks, and scripts that a node could not apply."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, topic_arn: str) -> None:
        super().__init__(scope, id)
        self._config = config
        for name in SLURM_VALUES:
            self._filter(name, f'{{ $.record = "state" && $.slurm.{name} >= 0 }}', f"$.slurm.{name}")
        low = " || ".join(f"$.disks[{index}].free_percent < {config.monitoring.free_disk_percent}" for index in range(DISKS))
        self._filter(FULL, f'{{ $.record = "state" && ({low}) }}', "1")
        self._filter(FAILED, '{ $.record = "bundle" && ($.result = "failed" || $.result = "refused") }', "1")
        self.names = [str(define_alarm(self, config, topic_arn, spec).alarm_name) for spec in self._alarms()]

    def _filter(self, metric: str, pattern: str, value: str) -> None:
        transformation = logs.CfnMetricFilter.MetricTransformationProperty(
            metric_namespace=metric_namespace(self._config), metric_name=metric, metric_value=value
        )
        logs.CfnMetricFilter(
            self,
            f"Count-{metric}",
            log_group_name=node_log_group(self._config.name),
            filter_pattern=pattern,
            metric_transformations=[transformation],
        )

    def _alarms(self) -> Iterator[AlarmSpec]:
        name, monitoring = self._config.name, self._config.monitoring
        yield self._daemon(
            "SlurmctldDown",
            "slurmctld",
            "slurmctld has not answered for 4 minutes, or the controller sends no reports (INSUFFICIENT_DATA): no job starts. "
            f"Run `./hpod status {name}`, then `./hpod events {name}`; replace a controller that is gone with `./hpod replace`",
            missing="missing",  # not "breaching", which fires before the first report
        )
        if slurm_of(self._config).accounting.database is not Database.NONE:
            yield self._daemon(
                "SlurmdbdDown",
                "slurmdbd",
                "slurmdbd has not answered for 4 minutes: accounting is not recorded, and limits are not checked. Run `./hpod "
                f"status {name}`, and check the accounting database",
                missing="notBreaching",
            )
        yield self._at_least(
            "NodesDrained",
            "drained",
            f"Slurm starts no jobs on drained nodes. Run `./hpod status {name}` for the reasons, then `./hpod health-check`, "
            "`./hpod resume` or `./hpod replace`",
            threshold=monitoring.drained_nodes,
        )
        yield self._at_least(
            "NodesDown",
            "down",
            f"Nodes are down in Slurm for 10 minutes, and their jobs failed. Run `./hpod status {name}` for the reasons, "
            "then `./hpod resume` if a node rebooted, otherwise `./hpod reboot` or `./hpod replace`",
            periods=2,
        )
        yield self._at_least(
            "DiskSpaceLow",
            FULL,
            f"A disk or file system of a node has less than {monitoring.free_disk_percent} % free space: jobs and daemons fail "
            f"when it is full. Run `./hpod status {name}`, and delete files",
            statistic="Sum",
            period_s=600,  # most nodes report every 5 minutes
        )
        yield self._at_least(
            "BundleFailed",
            FAILED,
            f"A node could not apply its scripts, or refused them because they were changed outside the deployment. Run `./hpod "
            f"status {name}` for the step; the next `cdk deploy` repairs it",
            statistic="Sum",
        )

    def _daemon(self, id: str, metric: str, description: str, *, missing: str) -> AlarmSpec:
        namespace = metric_namespace(self._config)
        comparison = "LessThanThreshold"
        return AlarmSpec(id, description, namespace, metric, "Maximum", comparison, 1, period_s=60, periods=4, missing=missing)

    def _at_least(
        self,
        id: str,
        metric: str,
        description: str,
        *,
        threshold: float = 1,
        statistic: str = "Maximum",
        period_s: int = 300,
        periods: int = 1,
    ) -> AlarmSpec:
        namespace, comparison = metric_namespace(self._config), "GreaterThanOrEqualToThreshold"
        return AlarmSpec(id, description, namespace, metric, statistic, comparison, threshold, period_s, periods)
