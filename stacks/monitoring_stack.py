"""Define the alarms, notifications and dashboard of a cluster."""

from typing import cast

from aws_cdk import CfnOutput, CfnResource, Fn, Stack
from constructs import Construct

from config.model import ClusterConfig, Wait
from config.operation_names import DEPLOYMENT_ALARMS
from constructs.hyperpod.monitoring.dashboard import Dashboard
from constructs.hyperpod.monitoring.event_rules import EventRules
from constructs.hyperpod.monitoring.file_system_alarms import FileSystemAlarms
from constructs.hyperpod.monitoring.node_alarms import HealthAgentAlarm, NodeAlarms
from constructs.hyperpod.monitoring.notifications import ChatChannels, NotificationTopic
from constructs.hyperpod.storage import SharedStorage
from stacks.cluster_stack import ClusterStack


class MonitoringStack(Stack):
    """Define what notifies of a deployed cluster; it can be deleted without the cluster."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        storage: SharedStorage,
        cluster: ClusterStack,
    ) -> None:
        super().__init__(scope, id, description=f"Monitoring of HyperPod cluster {config.name}")
        topic = NotificationTopic(self, "Topic", config=config).topic_arn
        ChatChannels(self, "Chat", config=config, topic_arn=topic)
        arn = Fn.get_stack_output(cluster.stack_name, "ClusterArn")
        rules = EventRules(self, "Events", config=config, cluster_arn=arn, topic_arn=topic)
        dashboard = Dashboard(
            self,
            "Dashboard",
            config=config,
            alarm_names=[*self._alarms(config, storage, cluster.stack_name, topic), *rules.names],
            file_system_id=storage.file_system_id,
        )
        # A weak reference is resolved again only if the template changes (docs/adr/0003-weak-references.md).
        cast("CfnResource", dashboard.node.default_child).add_metadata("Identity", cluster.identity)
        CfnOutput(self, "NotificationTopic", value=topic, description="SNS topic of the cluster's notifications")

    def _alarms(self, config: ClusterConfig, storage: SharedStorage, cluster: str, topic: str) -> list[str]:
        """Define the alarms that get data, and return their names and those of the deployment's alarms."""
        names: list[str] = []
        if config.has_node_reports:
            names += NodeAlarms(self, "Nodes", config=config, topic_arn=topic).names
        if config.wait is not Wait.NONE:  # otherwise the log group may not exist yet
            group = _log_group(cluster)
            names += HealthAgentAlarm(self, "HealthAgent", config=config, log_group_name=group, topic_arn=topic).names
        if config.storage.lustre:
            system = str(storage.file_system_id)
            names += FileSystemAlarms(self, "FileSystem", config=config, file_system_id=system, topic_arn=topic).names
        return [*names, *(f"{cluster}-{name}" for name in DEPLOYMENT_ALARMS)]


def _log_group(cluster: str) -> str:
    """Return the log group that HyperPod's agents on the nodes write to."""
    return "/".join(
        ("/aws/sagemaker/Clusters", Fn.get_stack_output(cluster, "ClusterName"), Fn.get_stack_output(cluster, "ClusterId"))
    )
