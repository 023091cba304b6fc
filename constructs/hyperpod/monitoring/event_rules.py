"""Define the notifications of HyperPod's events."""

import json
from dataclasses import dataclass, replace
from typing import Any

from aws_cdk import aws_events as events
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.monitoring.alarm import AlarmSpec, define_alarms

WARNING_EVENTS = "WarningEvents"


@dataclass(frozen=True)
class EventKind:
    """A kind of event: the details that matter, and its notification with placeholders for paths in the event."""

    id: str
    detail_type: str
    detail: dict[str, Any]
    paths: dict[str, str]
    title: str
    description: str
    next_step: str


# https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
EVENTS = (
    EventKind(
        "ClusterState",
        "SageMaker HyperPod Cluster State Change",
        # The other states are steps of a deployment.
        {"ClusterStatus": ["Failed", "RollingBack", "Deleting"]},
        {"status": "$.detail.ClusterStatus", "reason": "$.detail.FailureMessage"},
        "cluster is <status>",
        "<reason>",
        "./hpod events {name}",
    ),
    EventKind(
        "NodeHealth",
        "SageMaker HyperPod Cluster Node Health Event",
        {},
        {
            "instance": "$.detail.InstanceId",
            "status": "$.detail.HealthSummary.HealthStatus",
            "reason": "$.detail.HealthSummary.HealthStatusReason",
            "action": "$.detail.HealthSummary.RepairAction",
        },
        "node <instance> is <status>",
        "<reason> Repair action: <action>",
        "./hpod status {name}",
    ),
    EventKind(
        "ClusterEvent",
        "SageMaker HyperPod Cluster Event",
        # Each scaling emits Warn events of nodes that start: only those that continue show trouble.
        {"EventDetails": {"EventLevel": ["Error"]}},
        {
            "level": "$.detail.EventDetails.EventLevel",
            "text": "$.detail.EventDetails.Description",
            "group": "$.detail.EventDetails.InstanceGroupName",
            "instance": "$.detail.EventDetails.InstanceId",
            "cluster": "$.detail.EventDetails.ClusterName",
            "event": "$.detail.EventDetails.EventId",
        },
        "cluster event, level <level>",
        "<text> (group: <group>, instance: <instance>)",
        # The event has no metadata; this call returns the failure's message.
        "aws sagemaker describe-cluster-event --cluster-name <cluster> --event-id <event>",
    ),
)


class EventRules(Construct):
    """Publish the cluster's failures, unhealthy nodes and errors to the topic, and raise an alarm if warnings continue.

    The notifications have the form that chat channels require; without it, they show none.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, cluster_arn: str, topic_arn: str) -> None:
        super().__init__(scope, id)
        for kind in EVENTS:
            transformer = events.CfnRule.InputTransformerProperty(
                input_paths_map=kind.paths, input_template=_template(config.name, kind)
            )
            target = events.CfnRule.TargetProperty(id="Topic", arn=topic_arn, input_transformer=transformer)
            self._rule(config, cluster_arn, kind, [target])
        warned = replace(EVENTS[-1], id=WARNING_EVENTS, detail={"EventDetails": {"EventLevel": ["Warn"]}})
        self._rule(config, cluster_arn, warned, [])
        spec = AlarmSpec(
            "Warnings",
            "HyperPod has sent events of level Warn for more than an hour: a node does not start, or starts again and again. "
            f"Run `./hpod events {config.name}` for their texts",
            "AWS/Events",
            "TriggeredRules",
            # HyperPod creates a failed node again after 20 to 30 minutes, and a scaling takes less than an hour.
            period_s=1800,
            periods=3,
            dimensions={"RuleName": f"{config.name}-{WARNING_EVENTS}"},
        )
        self.names = define_alarms(self, config.name, topic_arn, [spec])

    def _rule(
        self, config: ClusterConfig, cluster_arn: str, kind: EventKind, targets: list[events.CfnRule.TargetProperty]
    ) -> None:
        pattern = {"source": ["aws.sagemaker"], "detail-type": [kind.detail_type], "resources": [cluster_arn]}
        events.CfnRule(
            self,
            kind.id,
            name=f"{config.name}-{kind.id}",
            description=f"{'Notifies of' if targets else 'Counts'} {kind.detail_type} of cluster {config.name}",
            event_pattern={**pattern, **({"detail": kind.detail} if kind.detail else {})},
            targets=targets or None,
        )


def _template(name: str, kind: EventKind) -> str:
    """Return the notification in the schema of Amazon Q Developer in chat applications."""
    content = {
        "textType": "client-markdown",
        "title": f"{name}: {kind.title}",
        "description": kind.description,
        "nextSteps": [f"Run `{kind.next_step.format(name=name)}`"],
    }
    return json.dumps({"version": "1.0", "source": "custom", "content": content})
