"""The cluster's own events, which the service only stores for clusters with continuous provisioning."""

from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import named_cluster
from local_aws.hyperpod.cluster_operations import is_in_time
from local_aws.hyperpod.model import Cluster
from local_aws.json_service import Call, Json, Operation, page

# A field of the request -> the field of the event that must equal it.
_FILTERS = {"InstanceGroupName": "InstanceGroupName", "NodeId": "InstanceId", "ResourceType": "ResourceType"}


def _observed(call: Call) -> Cluster:
    cluster = named_cluster(call)
    if not cluster.continuous:
        raise AwsError(
            "ValidationException",
            f"{call.operation} needs NodeProvisioningMode Continuous, which cluster {cluster.name} does not have",
        )
    return cluster


def list_cluster_events(call: Call) -> Json:
    """Return the events that match the call's filters, by default newest first."""
    request = call.request
    filters = {name: request[field] for field, name in _FILTERS.items() if field in request}
    found = [
        event
        for event in _observed(call).events
        if all(event.get(name) == value for name, value in filters.items())
        and is_in_time(call.time(event["EventTime"]), request, "EventTime")
    ]
    if request.get("SortOrder", "Descending") == "Descending":
        found.reverse()
    shown, token = page(call, found)
    return {"Events": [{key: value for key, value in event.items() if key != "EventDetails"} for event in shown], **token}


def describe_cluster_event(call: Call) -> Json:
    """Return an event with its details."""
    event_id = call.request["EventId"]
    for event in _observed(call).events:
        if event["EventId"] == event_id:
            return {"EventDetails": event}
    raise AwsError("ResourceNotFound", f"Event {event_id} not found.")


OPERATIONS: dict[str, Operation] = {
    "ListClusterEvents": list_cluster_events,
    "DescribeClusterEvent": describe_cluster_event,
}
