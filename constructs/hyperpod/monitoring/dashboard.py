"""Define the dashboard of a cluster."""

import json
from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.monitoring.file_system_alarms import NAMESPACE as FSX
from constructs.hyperpod.monitoring.node_alarms import FAILED, FULL, HEALTH_EVENTS, metric_namespace

WIDTH = 24
Widget = dict[str, Any]


class Dashboard(Construct):
    """Define a dashboard with a row each for alarms, nodes, Slurm and the file system."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        alarm_names: Sequence[str],
        file_system_id: str | None,
    ) -> None:
        super().__init__(scope, id)
        namespace = metric_namespace(config)
        rows = [[_alarms(alarm_names)]]
        if config.has_node_reports:
            rows += [_nodes(namespace), _trouble(namespace)]
        if file_system_id:
            rows.append(_file_system(file_system_id))
        cloudwatch.CfnDashboard(
            self,
            "Resource",
            dashboard_name=config.name,
            dashboard_body=json.dumps({"widgets": _placed(rows)}, separators=(",", ":")),
        )


def _alarms(names: Sequence[str]) -> Widget:
    prefix = f"arn:{cdk.Aws.PARTITION}:cloudwatch:{cdk.Aws.REGION}:{cdk.Aws.ACCOUNT_ID}:alarm:"
    return {"type": "alarm", "properties": {"title": "Alarms", "alarms": [f"{prefix}{name}" for name in names]}}


def _nodes(namespace: str) -> list[Widget]:
    states = [[namespace, name] for name in ("idle", "allocated", "drained", "down")]
    daemons = [[namespace, name] for name in ("slurmctld", "slurmdbd")]
    return [
        _graph("Nodes by Slurm state", states, stat="Maximum", stacked=True),
        _graph("Slurm daemons (1: answers)", daemons, stat="Maximum"),
    ]


def _trouble(namespace: str) -> list[Widget]:
    return [
        _graph("Nodes with a full disk", [[namespace, FULL]], stat="Sum"),
        _graph("Scripts that nodes did not apply", [[namespace, FAILED]], stat="Sum"),
        _graph("Hardware faults", [[namespace, HEALTH_EVENTS]], stat="Sum"),
    ]


def _file_system(file_system_id: str) -> list[Widget]:
    def metrics(*names: str) -> list[list[str]]:
        return [[FSX, name, "FileSystemId", file_system_id] for name in names]

    return [
        _graph("File system: free bytes", metrics("FreeDataStorageCapacity"), stat="Sum", period_s=60),
        _graph("File system: bytes a minute", metrics("DataReadBytes", "DataWriteBytes"), stat="Sum", period_s=60),
        _graph(
            "File system: operations a minute",
            metrics("DataReadOperations", "DataWriteOperations", "MetadataOperations"),
            stat="Sum",
            period_s=60,
        ),
    ]


def _graph(title: str, metrics: list[list[str]], *, stat: str, period_s: int = 300, stacked: bool = False) -> Widget:
    properties = {"title": title, "metrics": metrics, "stat": stat, "period": period_s, "stacked": stacked}
    return {"type": "metric", "properties": {**properties, "view": "timeSeries", "region": cdk.Aws.REGION}}


def _placed(rows: list[list[Widget]]) -> list[Widget]:
    """Return the widgets with their places, each row as wide as the dashboard."""
    placed, top = [], 0
    for row in rows:
        width, height = WIDTH // len(row), 4 if row[0]["type"] == "alarm" else 6
        placed += [{**each, "x": width * column, "y": top, "width": width, "height": height} for column, each in enumerate(row)]
        top += height
    return placed
