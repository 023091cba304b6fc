"""Read CloudFormation's events, and derive the names and tags that follow from them.

The cluster's name is the PhysicalResourceId. A duplicate of an event gives the same name, and a replacement gives another one. A
Delete with an ID that CloudFormation generated gives the name that its Create used.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
"""A JSON object; the service model checks its content, not Python's types."""

CLUSTER = "Custom::HyperPodCluster"
WAIT = "Custom::HyperPodWait"
DELETION = "Custom::HyperPodDeletion"
ROLLOUT = "Custom::HyperPodRollout"

CANONICAL_VERSION = 1
"""Version of the JSON that is hashed for names. A new version changes only the names of new clusters."""

MAX_NAME = 63
HASH_LENGTH = 12
NO_DATE = "undated"

TAG_PREFIX = "hyperpod-cdk:"
STACK_ID_TAG = TAG_PREFIX + "stack-id"
LOGICAL_ID_TAG = TAG_PREFIX + "logical-id"
VERSION_TAG = TAG_PREFIX + "version"
CURRENT_VERSION = "1"
CLUSTER_TAG = TAG_PREFIX + "cluster"
"""Names the cluster file, for people. It has our prefix, but it is not an ownership tag."""


class Owner(NamedTuple):
    """The stack and the resource in it that own a cluster.

    CreateCluster or an adoption sets the tags. A later release may add tags and raise the version; only the stack and the logical
    ID identify the owner.
    """

    stack_id: str
    logical_id: str

    @property
    def tags(self) -> dict[str, str]:
        """Return the ownership tags."""
        return {STACK_ID_TAG: self.stack_id, LOGICAL_ID_TAG: self.logical_id, VERSION_TAG: CURRENT_VERSION}

    def __str__(self) -> str:
        """Return the owner as errors show it."""
        return f"resource {self.logical_id} of stack {self.stack_id}"


def owner_of(tags: Mapping[str, str]) -> Owner | None:
    """Return the owner in ``tags``."""
    if STACK_ID_TAG in tags and LOGICAL_ID_TAG in tags:
        return Owner(tags[STACK_ID_TAG], tags[LOGICAL_ID_TAG])
    return None


def is_reserved(key: str) -> bool:
    """Return whether a tag belongs to AWS or states the owner, and so is not the user's."""
    return key.startswith("aws:") or (key.startswith(TAG_PREFIX) and key != CLUSTER_TAG)


class Event(NamedTuple):
    """One request from CloudFormation."""

    request_type: str
    request_id: str
    stack_id: str
    logical_id: str
    resource_type: str
    response_url: str
    physical_id: str
    properties: Json
    old_properties: Json | None

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> "Event":
        """Return the request in ``raw``; fields that its type lacks are empty."""
        return cls(
            request_type=raw["RequestType"],
            request_id=raw["RequestId"],
            stack_id=raw["StackId"],
            logical_id=raw["LogicalResourceId"],
            resource_type=raw.get("ResourceType", CLUSTER),
            response_url=raw["ResponseURL"],
            physical_id=raw.get("PhysicalResourceId") or "",
            properties=dict(raw.get("ResourceProperties") or {}),
            old_properties=_optional(raw.get("OldResourceProperties")),
        )

    @property
    def stack_name(self) -> str:
        """Return the stack's name, from its ARN (``...:stack/<name>/<uuid>``)."""
        parts = self.stack_id.split("/")
        return parts[1] if len(parts) > 1 else self.stack_id

    @property
    def has_generated_id(self) -> bool:
        """Return whether CloudFormation generated the physical ID (``<stack>-<logical id>-<random>``)."""
        return self.physical_id.startswith(f"{self.stack_name}-{self.logical_id}-")

    @property
    def issued(self) -> str:
        """Return when CloudFormation signed the ResponseURL, as text that sorts by time, or "" if the URL has no date.

        Request IDs have no order, and deliveries can overtake each other. The signature's date is the only order in an event.
        """
        query = parse_qs(urlsplit(self.response_url).query)
        if "X-Amz-Date" in query:
            return query["X-Amz-Date"][0]
        # Signature version 2 has only an expiry, a constant time after the signing.
        return query["Expires"][0].rjust(16, "0") if "Expires" in query else ""


def is_later(issued: str, other: str) -> bool:
    """Return whether an event was issued after another; dates of different signature versions do not compare."""
    return bool(issued and other) and ("T" in issued) == ("T" in other) and issued > other


def _optional(properties: Mapping[str, Any] | None) -> Json | None:
    return None if properties is None else dict(properties)


class ClusterProperties(NamedTuple):
    """The properties of Custom::HyperPodCluster. CloudFormation sends every scalar as a string.

    This class reads every PropertiesVersion that was released, and the known fields of newer ones: a rollback can give newer
    properties to older code. "1", "2" and properties without a version are read the same way; "2" came with `MissingNodes`.
    """

    name_prefix: str
    cluster_name: str
    request: Json
    wait: str
    wait_hours: int
    controller_group: str
    zone: str
    adopt: bool
    recreate: bool

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "ClusterProperties":
        """Return the typed properties."""
        return cls(
            name_prefix=str(properties.get("NamePrefix") or "cluster"),
            cluster_name=str(properties.get("ClusterName") or ""),
            request=dict(properties.get("Request") or {}),
            wait=str(properties.get("Wait") or "nodes"),
            wait_hours=_hours(properties.get("WaitHours")),
            controller_group=str(properties.get("ControllerGroup") or ""),
            zone=str(properties.get("AvailabilityZoneId") or ""),
            adopt=str(properties.get("Adopt")).lower() == "true",
            recreate=str(properties.get("Recreate")).lower() == "true",
        )


def _hours(value: object) -> int:
    """Return a number of hours, or 1 if it is invalid, because a Delete must not fail on it."""
    text = str(value)
    return int(text) if text.isdecimal() and text.isascii() else 1


def create_only(request: Mapping[str, Any]) -> Json:
    """Return the values that only CreateCluster can set, from its input or from DescribeCluster's output."""
    vpc = request.get("VpcConfig") or {}
    eks = (request.get("Orchestrator") or {}).get("Eks") or {}
    return {
        "EksClusterArn": eks.get("ClusterArn", ""),
        "SecurityGroupIds": sorted(vpc.get("SecurityGroupIds", [])),
        "Subnets": sorted(vpc.get("Subnets", [])),
    }


def cluster_name(event: Event, properties: Mapping[str, Any]) -> str:
    """Return the cluster's name for ``properties``: the configured name, or the prefix and a hash."""
    cluster = ClusterProperties.of(properties)
    if cluster.cluster_name:
        return cluster.cluster_name
    form = [CANONICAL_VERSION, event.stack_id, event.logical_id, create_only(cluster.request)]
    digest = _digest(json.dumps(form, sort_keys=True, separators=(",", ":")), HASH_LENGTH)
    prefix = cluster.name_prefix[: MAX_NAME - HASH_LENGTH - 1].rstrip("-")
    return f"{prefix}-{digest}"


def created_name(event: Event, properties: Mapping[str, Any]) -> str:
    """Return the cluster that the properties create, or "" if they adopt one."""
    return "" if ClusterProperties.of(properties).adopt else cluster_name(event, properties)


def physical_id(event: Event) -> str:
    """Return the default PhysicalResourceId of the response: the event's, or the one that a Create gives."""
    if event.physical_id:
        return event.physical_id
    if event.resource_type == CLUSTER:
        return cluster_name(event, event.properties)
    return event.logical_id


def resource_hash(event: Event) -> str:
    """Return the prefix that the names of all executions for one resource share."""
    return _digest(f"{event.stack_id}|{event.logical_id}", 24)


def execution_name(event: Event) -> str:
    """Return the name of the one execution that serves this request, also if it is delivered twice.

    The date in it shows in a list of executions which request is newer (``executions.Execution.issued``).
    """
    return f"{resource_hash(event)}-{event.issued or NO_DATE}-{_digest(event.request_id, 24)}"


def physical_id_of_nothing(event: Event) -> str:
    """Return a PhysicalResourceId for which the Delete of a rollback finds nothing."""
    return f"none-{execution_name(event)}"


def is_of_nothing(event: Event) -> bool:
    """Return whether the PhysicalResourceId is from a request of this resource that changed nothing."""
    return event.physical_id.startswith(f"none-{resource_hash(event)}-")


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
