"""Read CloudFormation's events, and derive names and tags from them (docs/internals/custom-resource.md, Identity)."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
"""A JSON object."""

CLUSTER = "Custom::HyperPodCluster"
WAIT = "Custom::HyperPodWait"
DELETION = "Custom::HyperPodDeletion"
ROLLOUT = "Custom::HyperPodRollout"

CANONICAL_VERSION = 1
"""Version of the JSON that is hashed for names."""

MAX_NAME = 63
HASH_LENGTH = 12
NO_DATE = "undated"

TAG_PREFIX = "hyperpod-cdk:"
STACK_ID_TAG = TAG_PREFIX + "stack-id"
LOGICAL_ID_TAG = TAG_PREFIX + "logical-id"
VERSION_TAG = TAG_PREFIX + "version"
CURRENT_VERSION = "1"
CLUSTER_TAG = TAG_PREFIX + "cluster"
"""Names the cluster file, for people; not an ownership tag."""


class Owner(NamedTuple):
    """The stack and the resource in it that own a cluster, whatever the version of the tags."""

    stack_id: str
    logical_id: str

    @property
    def tags(self) -> dict[str, str]:
        """Return the ownership tags."""
        return {STACK_ID_TAG: self.stack_id, LOGICAL_ID_TAG: self.logical_id, VERSION_TAG: CURRENT_VERSION}

    @property
    def stack_name(self) -> str:
        """Return the stack's name, from its ARN (``...:stack/<name>/<uuid>``)."""
        return self.stack_id.partition("/")[2].partition("/")[0]

    def __str__(self) -> str:
        """Return the owner as errors show it."""
        return f"resource {self.logical_id} of stack {self.stack_id}"


def owner_of(tags: Mapping[str, str]) -> Owner | None:
    """Return the owner in ``tags``."""
    if STACK_ID_TAG in tags and LOGICAL_ID_TAG in tags:
        return Owner(tags[STACK_ID_TAG], tags[LOGICAL_ID_TAG])
    return None


def tag_list(tags: Mapping[str, str]) -> list[Json]:
    """Return the tags as calls have them."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


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
            old_properties=raw.get("OldResourceProperties"),
        )

    @property
    def owner(self) -> Owner:
        """Return the resource as an owner."""
        return Owner(self.stack_id, self.logical_id)

    @property
    def has_generated_id(self) -> bool:
        """Return whether CloudFormation generated the physical ID (``<stack>-<logical id>-<random>``)."""
        return self.physical_id.startswith(f"{self.owner.stack_name}-{self.logical_id}-")

    @property
    def issued(self) -> str:
        """Return when CloudFormation signed the ResponseURL, as text that sorts by time, or "" if the URL has no date."""
        query = parse_qs(urlsplit(self.response_url).query)
        if "X-Amz-Date" in query:
            return query["X-Amz-Date"][0]
        # Signature version 2 has only an expiry, a constant time after the signing.
        return query["Expires"][0].rjust(16, "0") if "Expires" in query else ""


def is_later(issued: str, other: str) -> bool:
    """Return whether an event was issued after another; dates of different signature versions do not compare."""
    return bool(issued and other) and ("T" in issued) == ("T" in other) and issued > other


class ClusterProperties(NamedTuple):
    """The properties of Custom::HyperPodCluster, with or without a PropertiesVersion; scalars are strings.

    Unknown fields do not matter: a rollback can give newer properties to older code.
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
    """Return the hours, or 1 if they are invalid: a Delete must not fail."""
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
    prefix = cluster.name_prefix[: MAX_NAME - HASH_LENGTH - 1].rstrip("-")
    return f"{prefix}-{_digest(json.dumps(form, sort_keys=True, separators=(',', ':')), HASH_LENGTH)}"


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
    """Return the name of the one execution of this request; ``executions.Execution.issued`` reads the date in it."""
    return f"{resource_hash(event)}-{event.issued or NO_DATE}-{_digest(event.request_id, 24)}"


def physical_id_of_nothing(event: Event) -> str:
    """Return a PhysicalResourceId for which the Delete of a rollback finds nothing."""
    return f"none-{execution_name(event)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
