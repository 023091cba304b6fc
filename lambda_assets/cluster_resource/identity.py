"""Runs in Lambda. Names that can be worked out from an event alone: the cluster's, and the state machine execution's.

The cluster's name is the PhysicalResourceId. A duplicate of an event gives the same name, a replacement another one, and a
Delete that comes with an invented id gives the name that its Create used.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cluster_resource.event import CLUSTER, ClusterProperties, Event, Json

CANONICAL_VERSION = 1
"""Of the form that is hashed. A new form gives new names to new clusters; clusters that exist keep theirs."""

LONGEST_NAME = 63
HASH_LENGTH = 12
UNDATED = "undated"


def create_only(request: Mapping[str, Any]) -> Json:
    """What CreateCluster fixes for the cluster's life, from its input or from DescribeCluster's output."""
    vpc = request.get("VpcConfig") or {}
    eks = (request.get("Orchestrator") or {}).get("Eks") or {}
    return {
        "EksClusterArn": eks.get("ClusterArn", ""),
        "SecurityGroupIds": sorted(vpc.get("SecurityGroupIds", [])),
        "Subnets": sorted(vpc.get("Subnets", [])),
    }


def cluster_name(event: Event, properties: Mapping[str, Any]) -> str:
    """The name that ``properties`` give the cluster: the configured one, or the prefix and a hash."""
    cluster = ClusterProperties.of(properties)
    if cluster.cluster_name:
        return cluster.cluster_name
    form = [CANONICAL_VERSION, event.stack_id, event.logical_id, create_only(cluster.request)]
    digest = _digest(json.dumps(form, sort_keys=True, separators=(",", ":")), HASH_LENGTH)
    prefix = cluster.name_prefix[: LONGEST_NAME - HASH_LENGTH - 1].rstrip("-")
    return f"{prefix}-{digest}"


def physical_id(event: Event) -> str:
    """The PhysicalResourceId to answer with where nothing else was decided: the event's own, or the one a Create makes."""
    if event.physical_id:
        return event.physical_id
    if event.resource_type == CLUSTER:
        return cluster_name(event, event.properties)
    return event.logical_id


def resource_hash(event: Event) -> str:
    """What all executions for one resource have in common at the start of their names."""
    return _digest(f"{event.stack_id}|{event.logical_id}", 24)


def execution_name(event: Event) -> str:
    """Return the name of the one execution that serves this request, however often it is delivered.

    The date in it lets a list of executions show which request is newer (``executions.Execution.issued``).
    """
    return f"{resource_hash(event)}-{event.issued or UNDATED}-{_digest(event.request_id, 24)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
