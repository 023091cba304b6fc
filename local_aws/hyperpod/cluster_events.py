"""The events of clusters: their own, for ListClusterEvents, and state changes, for EventBridge."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from local_aws import events
from local_aws.clock import clock
from local_aws.hyperpod.descriptions import state_change
from local_aws.hyperpod.eks_access import metadata
from local_aws.hyperpod.kubernetes.agent import agents
from local_aws.hyperpod.model import Cluster, Node
from local_aws.json_service import Json
from local_aws.schedule import schedule


def set_status(cluster: Cluster, status: str, groups: Iterable[str] | None = None) -> None:
    """Set the status of the cluster and of its groups (or some of them), and publish it."""
    cluster.status = status
    for name, group in cluster.groups.items():
        if groups is None or name in groups:
            group.status = "Updating" if status == "RollingBack" else status
    record(cluster, f"Cluster is {status}")
    _publish(cluster, "SageMaker HyperPod Cluster State Change", state_change(cluster))


@dataclass(frozen=True)
class About:
    """The subject of an event besides the cluster: a group or a node, and its failure."""

    group: str = ""
    node: Node | None = None
    failure: str = ""


def record(cluster: Cluster, text: str, about: About | None = None) -> None:
    """Add an event to the cluster's list."""
    about = about or About()
    kind = "Instance" if about.node else "InstanceGroup" if about.group else "Cluster"
    event: Json = {
        "EventId": str(uuid.uuid4()),
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ResourceType": kind,
        "EventTime": clock.moment(),
        "Description": text,
        "EventLevel": "Error" if about.failure else "Info",
        "EventDetails": {"EventMetadata": _metadata(cluster, kind, about)},
    }
    if about.node:
        event["InstanceId"] = about.node.id
    if about.node or about.group:
        event["InstanceGroupName"] = about.node.group if about.node else about.group
    cluster.events.append(event)
    agents.wake(cluster)
    if cluster.continuous:  # as for ListClusterEvents
        _publish(cluster, "SageMaker HyperPod Cluster Event", {"EventDetails": _without_datetimes(event)})


def publish_health(cluster: Cluster, node: Node, reason: str, *, repair: str = "None") -> None:
    """Publish that a node became unhealthy, or healthy again without a ``reason``."""
    summary = {
        "HealthStatus": "Unhealthy" if reason else "Healthy",
        "HealthStatusReason": reason,
        "RepairAction": repair,
        "Recommendation": "",
    }
    names = {"ClusterName": cluster.name, "ClusterArn": cluster.arn, "InstanceId": node.id, "Tags": cluster.tags}
    _publish(cluster, "SageMaker HyperPod Cluster Node Health Event", {**names, "HealthSummary": summary})


def _metadata(cluster: Cluster, kind: str, about: About) -> Json:
    details: Json = {"FailureMessage": about.failure} if about.failure else {}
    if kind == "Cluster":
        details |= metadata(cluster)
    if about.node and about.node.interfaces:
        ids = [interface.id for interface in about.node.interfaces]
        details |= {"CustomerEni": ids[0], "AdditionalEnis": {"EfaEnis": ids[1:]}}
    return {kind: details}


def _without_datetimes(event: Json) -> Json:
    """Return the event as in EventBridge, which has the failures' metadata as null."""
    return {**event, "EventTime": int(event["EventTime"].host.timestamp() * 1000), "EventDetails": {"EventMetadata": None}}


def _publish(cluster: Cluster, detail_type: str, detail: Json) -> None:
    arn = cluster.arn

    def publish() -> None:
        events.publish(
            cluster.account,
            cluster.region,
            source="aws.sagemaker",
            detail_type=detail_type,
            detail=detail,
            resources=[arn],
        )

    # Not at once: the caller holds the lock, and a rule's target may call back.
    schedule.after(0, publish)
